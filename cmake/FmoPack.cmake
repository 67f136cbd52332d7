# The Python module as a folder that needs nothing beside it, component `wheel`:
#   cmake --install BUILD --component wheel --prefix SITE_PACKAGES
# puts there fmo/ with the module, and in it lib/ (libraries, also those of others that few machines have), bin/
# (fmo-driver) and share/fmo (basis sets, hybrids, xyz). pip (pyproject.toml) and cmake/packaging/wheel.py pack the same.
if(NOT FMO_INSTALL OR IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_DATADIR})
    return()
endif()
set(wheel COMPONENT wheel EXCLUDE_FROM_ALL)
set(wheel_libraries fmo_shared fmo_io_shared fmo_scf_shared fmo_fragment_shared)
add_custom_target(fmo-wheel DEPENDS ${wheel_libraries} fmo-driver)

install(DIRECTORY driver/python/fmo DESTINATION . ${wheel} FILES_MATCHING PATTERN *.py PATTERN py.typed)
install(TARGETS ${wheel_libraries} LIBRARY DESTINATION fmo/${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP ${wheel})
install(TARGETS fmo-driver RUNTIME DESTINATION fmo/${CMAKE_INSTALL_BINDIR} ${wheel})
install(DIRECTORY datasets/basis datasets/hybrids datasets/xyz DESTINATION fmo/${CMAKE_INSTALL_DATADIR}/fmo ${wheel}
        PATTERN *.py EXCLUDE)
if(SKBUILD)
    install(PROGRAMS driver/python/fmo-driver DESTINATION ${SKBUILD_SCRIPTS_DIR} ${wheel})
endif()
list(TRANSFORM wheel_libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE wheel_files)
install(CODE "set(FMO_FOLDER fmo/${CMAKE_INSTALL_LIBDIR})
set(FMO_LIBRARIES ${wheel_files})
set(FMO_PROGRAM $<TARGET_FILE:fmo-driver>)
set(FMO_WHEEL_FOLDERS ${FMO_WHEEL_FOLDERS})
set(CMAKE_OBJDUMP ${CMAKE_OBJDUMP})" ${wheel})
install(SCRIPT cmake/packaging/graft.cmake ${wheel})
