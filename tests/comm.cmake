# gmpi without a GPU: ring and matching, host ranks of one process, and under mpirun where MPI was
# found. FMO_TEST_SMALL: fewer messages, for ThreadSanitizer.
set(comm LIBS fmo_comm Threads::Threads)
fmo_test(comm_ring STATIC SOURCES comm_ring.c ${comm} LABELS unit)
fmo_test(comm_match STATIC SOURCES comm_match.c ${comm} LABELS unit)
fmo_test(comm_ranks STATIC SOURCES comm_ranks.c ${comm} LABELS unit)
if(FMO_SANITIZE)
    set_tests_properties(comm_ring comm_ranks PROPERTIES ENVIRONMENT FMO_TEST_SMALL=1)
endif()

# MPI's own threads and leaks are nothing for sanitizers.
if(FMO_SANITIZE)
    return()
elseif(NOT FMO_WITH_MPI)
    add_test(NAME mpi_tests_not_built COMMAND sh -c "echo 'skipped: built without MPI'; exit 77")
    set_tests_properties(mpi_tests_not_built PROPERTIES SKIP_RETURN_CODE 77 LABELS mpi)
    return()
endif()
add_executable(comm_mpi comm_mpi.c)
target_include_directories(comm_mpi PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR})
target_link_libraries(comm_mpi PRIVATE fmo_mpi fmo_warnings MPI::MPI_C m)
set_target_properties(comm_mpi PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
# Open MPI wants to be asked before it runs as root, and for more processes than cores.
set(mpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
                    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
                    OMPI_MCA_btl_vader_single_copy_mechanism=none)
foreach(np 2 3 4)
    add_test(NAME comm_mpi_${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np}
             ${MPIEXEC_PREFLAGS} $<TARGET_FILE:comm_mpi> ${MPIEXEC_POSTFLAGS} all 20000)
endforeach()
add_test(NAME comm_mpi_mute COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3
         ${MPIEXEC_PREFLAGS} $<TARGET_FILE:comm_mpi> ${MPIEXEC_POSTFLAGS} mute)
add_test(NAME comm_mpi_kill COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/comm_kill.sh
         ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 ${MPIEXEC_PREFLAGS}
         $<TARGET_FILE:comm_mpi> ${MPIEXEC_POSTFLAGS} kill)
set_tests_properties(comm_mpi_2 comm_mpi_3 comm_mpi_4 comm_mpi_mute comm_mpi_kill PROPERTIES
                     LABELS mpi TIMEOUT 1200 RESOURCE_LOCK mpi ENVIRONMENT "${mpi_environment}")
