"""As much of Conan 2 as our recipe asks for, where there is no Conan: enough to see what the recipe says.

    with stand_in() as recorded: ...     `import conan` works inside; `recorded` fills as the recipe is called
"""
import contextlib
import os
import shutil
import sys
import types


class Recipe:
    """What a recipe derives from; it notes what is required."""
    def __init__(self):
        self.required, self.tools = [], []

    def requires(self, reference):
        self.required.append(reference)

    def tool_requires(self, reference):
        self.tools.append(reference)


def copy(_, pattern, src, dst):
    """Of patterns only `NAME` and `FOLDER/*`, which take all that is below."""
    if pattern.endswith("/*"):
        folder = pattern[:-2]
        shutil.copytree(os.path.join(src, folder), os.path.join(dst, folder))
    else:
        shutil.copy(os.path.join(src, pattern), dst)


def load(_, path):
    with open(path) as file:
        return file.read()


class Generator:
    """Any generator: what is set in it is kept under its class."""
    def __init__(self, recorded, name):
        self.cache_variables = recorded.setdefault(name, {})

    def set_property(self, *words):
        self.cache_variables[words[:-1]] = words[-1]

    def generate(self):
        pass


@contextlib.contextmanager
def stand_in():
    recorded = {}

    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        return made

    def generator(name):
        return lambda _: Generator(recorded, name)

    modules = {
        "conan": module("conan", ConanFile=Recipe),
        "conan.errors": module("conan.errors", ConanInvalidConfiguration=RuntimeError),
        "conan.tools": module("conan.tools"),
        "conan.tools.cmake": module("conan.tools.cmake", CMake=None, cmake_layout=None,
                                    CMakeDeps=generator("CMakeDeps"), CMakeToolchain=generator("CMakeToolchain")),
        "conan.tools.files": module("conan.tools.files", copy=copy, load=load),
        "conan.tools.gnu": module("conan.tools.gnu", PkgConfigDeps=generator("PkgConfigDeps")),
    }
    kept = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield recorded
    finally:
        for name, was in kept.items():
            if was is None:
                del sys.modules[name]
            else:
                sys.modules[name] = was
