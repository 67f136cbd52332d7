# Recipe for Spack. Not run: written where there is no Spack; Python compiles it. What was run is the same call of CMake.
# Put this folder into a repository of your own as packages/fmo, and name in `git` where the sources are:
#   spack install fmo +cuda cuda_arch=90

from spack.package import *


class Fmo(CMakePackage, CudaPackage):
    """Fock matrices, SCF and fragment molecular orbitals (FMO2) on GPUs and CPUs."""

    git = "file:///path/to/fmo"

    license("MIT")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("mpi", default=False, description="Builds and fragments shared by several processes")
    variant("python", default=False, description="The Python module")
    variant("experiments", default=False, description="Published strategies and experiments")
    variant("static", default=False, description="Static libraries, too")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hdf5~mpi")
    depends_on("zlib-api")
    depends_on("jansson")
    depends_on("openblas threads=none")
    depends_on("netlib-lapack+lapacke")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.9:", type=("build", "run"), when="+python")
    depends_on("py-numpy@1.22:", type="run", when="+python")

    extends("python", when="+python")

    def cmake_args(self):
        args = [
            self.define_from_variant("FMO_CUDA", "cuda"),
            self.define_from_variant("FMO_MPI", "mpi"),
            self.define_from_variant("FMO_EXPERIMENTS", "experiments"),
            self.define_from_variant("FMO_INSTALL_STATIC", "static"),
            self.define("BUILD_TESTING", self.run_tests),
        ]
        if "+cuda" in self.spec and not self.spec.satisfies("cuda_arch=none"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(self.spec.variants["cuda_arch"].value)))
        if "+python" in self.spec:
            args.append(self.define("FMO_PYTHON_DIR", python_purelib))
        return args
