"""The languages in which candidates' programs can be run: one table, a row for each."""

from proctor.core.program import AID, MIB
from proctor.scorers.languages_row import (
    Aid,
    Language,
    Script,
    go_imports,
    go_main,
    haskell_module,
    no_package,
    php_part,
    swift_begin,
)

TYPESCRIPT = "{typescript}"
"""Stands for the folder of npm's package typescript in a command."""
_JVM = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
_JAVAC = (
    "javac", "-J-Xmx512m", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-J-Xshare:auto",
    "-J-XX:+IgnoreUnrecognizedVMOptions", "-nowarn", "-proc:none",
)  # fmt: skip
_JAVA_AID = f"-J-XX:SharedArchiveFile={AID}/javac.jsa"
_WRAP = "-Wl,--wrap=main"
_NODE = ("node", "--min-semi-space-size=16")
_ORIGINAL_TSC = (
    f"node {TYPESCRIPT}/bin/tsc main.ts --outfile main.js >&2;"
    " printf '\\n;__proctorEnd();\\n' >>main.js"
)
_NODE_AID = ("packages.js", "packages.json", "latin1.js", "latin1.bin", "utf8.js", "utf8.bin")
_CS_FILES = ("main.cs", "launch.cs")
_CPP_BUILD = f"""
if [ -e {AID}/launch.o ]; then
  exec "$0" -w -o main -include {AID}/preamble.hpp {AID}/launch.o main.cpp {_WRAP} -pthread
fi
exec "$0" -w -o main -x c launch.c -x c++ main.cpp {_WRAP} -pthread
"""
_CPP_AID = """
"$0" -w -pthread -x c++-header preamble.hpp -o preamble.hpp.gch && "$0" -w -x c -c launch.c
"""


_PYTHON_PREAMBLE = (
    "import math, re, sys, copy, datetime, itertools, collections, heapq, statistics",
    "import functools, hashlib, string",
    "from typing import *",
    "from collections import *",
)
_PYTHON_OPTIONAL = {
    f"try: import {what}\nexcept ImportError: pass": word
    for what, word in {
        "numpy": "numpy",
        "numpy as np": "np",
        "pandas as pd": "pd",
        "requests": "requests",
        "openpyxl": "openpyxl",
        "xlsxwriter": "xlsxwriter",
        "yolk": "yolk",
    }.items()
}
_CPP_HEADERS = (
    "stdlib.h", "algorithm", "cmath", "math.h", "numeric", "stdio.h", "vector", "set", "map",
    "queue", "stack", "list", "deque", "string", "climits", "cstring", "iostream",
    "sstream", "fstream",
)  # fmt: skip
_CPP_PREAMBLE = (
    *(f"#include <{name}>" for name in _CPP_HEADERS),
    "using namespace std;",
)
_CPP_OPTIONAL = {"#if __has_include(<boost/any.hpp>)\n#include <boost/any.hpp>\n#endif": "boost"}

LANGUAGES: tuple[Language, ...] = (
    Language(
        name="python",
        aliases=("py", "python3"),
        fences=("py3", "ipython", "pycon"),
        file="main.py",
        launchers=(),
        tools=(("python3", "python"),),
        install="apt install python3",
        run=("python3", "-I", "-B", "launch.py"),
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
        preamble=_PYTHON_PREAMBLE,
        optional=_PYTHON_OPTIONAL,
        original=True,
        stops=("\nclass", "\ndef", "\n#", "\n@", "\nprint", "\nif", "\nassert"),
        script=Script(run=("python3", "-I", "-B", "main.py")),
    ),
    Language(
        name="javascript",
        aliases=("js", "node", "nodejs"),
        fences=("jsx", "mjs", "cjs"),
        file="main.js",
        launchers=("launch.js",),
        tools=(("node", "nodejs"),),
        install="apt install nodejs",
        run=(*_NODE, "-r", "./launch.js", "main.js"),
        aid=Aid(
            files=("aid_packages.js", "packages.js"),
            packages=(),
            steps=((*_NODE, "aid_packages.js"),),
            keep=_NODE_AID,
        ),
        ending=";__proctorEnd();",
        original=True,
        depth=1,
        script=Script(run=(*_NODE, "main.js")),
    ),
    Language(
        name="typescript",
        aliases=("ts",),
        fences=("tsx",),
        file="main.ts",
        launchers=("launch.js", "build_ts.js"),
        tools=(("node", "nodejs"),),
        install="npm install -g typescript",
        build=((*_NODE, "build_ts.js"),),
        original_build=(("sh", "-c", _ORIGINAL_TSC),),
        run=(*_NODE, "--enable-source-maps", "-r", "./launch.js", "main.js"),
        aid=Aid(
            files=("aid_packages.js", "packages.js"),
            packages=("typescript",),
            steps=((*_NODE, "aid_packages.js"),),
            keep=_NODE_AID,
        ),
        timeout=20.0,
        original=True,
        script=Script(
            build=((*_NODE, "build_ts.js", "script"),),
            run=(*_NODE, "--enable-source-maps", "main.js"),
            launchers=("build_ts.js",),
        ),
    ),
    Language(
        name="java",
        file="Main.java",
        launchers=("ProctorLaunch.java",),
        tools=(("javac",), ("java",)),
        version=("-version",),
        install="apt install default-jdk-headless",
        build=((*_JAVAC, _JAVA_AID, "Main.java", "ProctorLaunch.java"),),
        aid=Aid(
            files=("ProctorLaunch.java",),
            steps=((*_JAVAC, "-J-XX:ArchiveClassesAtExit=javac.jsa", "ProctorLaunch.java"),),
            keep=("javac.jsa",),
        ),
        run=("java", *_JVM, "-ea", "-cp", ".", "ProctorLaunch", "Main"),
        original_run=("java", *_JVM, "-cp", ".", "ProctorLaunch", "Main"),
        memory=2048 * MIB,
        first=(r"^[ \t]*import\s+[\w.*\s]+;",),
        shape=no_package,
        original=True,
        depth=2,
        script=Script(
            build=((*_JAVAC, "Main.java"),), run=("java", *_JVM, "-ea", "-cp", ".", "Main")
        ),
    ),
    Language(
        name="c",
        fences=("h",),
        file="main.c",
        launchers=("launch.c",),
        tools=(("gcc", "cc", "clang"),),
        install="apt install gcc",
        build=(("gcc", "-w", "-o", "main", "launch.c", "main.c", _WRAP, "-lm", "-pthread"),),
        run=("./main",),
        joint="#undef main",
        script=Script(
            build=(("gcc", "-w", "-o", "main", "main.c", "-lm", "-pthread"),), run=("./main",)
        ),
    ),
    Language(
        name="c++",
        aliases=("cpp", "c/c++", "c++/c", "cpp/c", "c/cpp", "cxx", "cc"),
        fences=("c", "h", "hpp"),
        file="main.cpp",
        launchers=("launch.c",),
        tools=(("g++", "c++", "clang++"),),
        install="apt install g++",
        build=(("sh", "-c", _CPP_BUILD, "g++"),),
        aid=Aid(
            files=("launch.c",),
            preamble="preamble.hpp",
            steps=(("sh", "-c", _CPP_AID, "g++"),),
            keep=("preamble.hpp", "preamble.hpp.gch", "launch.o"),
        ),
        run=("./main",),
        timeout=60.0,
        preamble=_CPP_PREAMBLE,
        optional=_CPP_OPTIONAL,
        joint="#undef main",
        original=True,
        depth=1,
        script=Script(
            build=(("g++", "-w", "-o", "main", "main.cpp", "-pthread"),), run=("./main",)
        ),
    ),
    Language(
        name="c#",
        aliases=("cs", "csharp", "c-sharp"),
        file="main.cs",
        launchers=("launch.cs",),
        tools=(("mcs",), ("mono",)),
        install="apt install mono-mcs mono-runtime",
        build=(("mcs", "-debug", "-warn:0", "-out:main.exe", "-main:ProctorLaunch", *_CS_FILES),),
        run=("mono", "--debug=mdb-optimizations", "main.exe"),
        timeout=20.0,
        first=(r"^[ \t]*using\s+(?:static\s+)?[\w.]+(?:\s*=\s*[\w.<>,\s]+)?;",),
        original=True,
        script=Script(
            build=(("mcs", "-debug", "-warn:0", "-out:main.exe", "main.cs"),),
            run=("mono", "main.exe"),
        ),
    ),
    Language(
        name="go",
        aliases=("golang",),
        file="main.go",
        launchers=("launch.go",),
        tools=(("go",),),
        version=("version",),
        install="apt install golang-go",
        build=(("go", "build", "-o", "main", "launch.go", "main.go"),),
        run=("./main",),
        timeout=20.0,
        build_time=120.0,
        memory=2048 * MIB,
        env={
            "CGO_ENABLED": "0",
            "GO111MODULE": "off",
            "GOCACHE": "/tmp/go-cache",  # noqa: S108  # nosec B108
            "GOPATH": "/tmp/go",  # noqa: S108  # nosec B108
            "GOTOOLCHAIN": "local",
        },
        first=(r"^package\s+\w+", r"^import\s+[^\n(]+"),
        shape=go_imports,
        rewrite=go_main,
        original=True,
        stops=("\n//", "\nfunc main(", "struct", "\nfunc"),
        depth=1,
        script=Script(build=(("go", "build", "-o", "main", "main.go"),), run=("./main",)),
    ),
    Language(
        name="r",
        fences=("rscript",),
        file="main.r",
        launchers=("launch.r",),
        tools=(("Rscript",),),
        install="apt install r-base-core",
        run=("Rscript", "launch.r"),
        timeout=20.0,
        # Room at the start spares R the collecting of garbage while it loads packages.
        env={"TZ": "UTC", "R_NSIZE": "3000000", "R_VSIZE": "128M"},
        preamble=("rm(list=ls())", "library(assert)"),
        original=True,
        script=Script(run=("Rscript", "main.r"), preamble=False),
    ),
    Language(
        name="rust",
        aliases=("rs",),
        file="main.rs",
        launchers=("launch.c",),
        tools=(("rustc",), ("cc", "gcc", "clang")),
        install="curl https://sh.rustup.rs | sh, or apt install rustc gcc",
        build=(
            ("cc", "-w", "-c", "launch.c"),
            (
                "rustc",
                "--edition",
                "2021",
                "-A",
                "warnings",
                "-C",
                "debuginfo=0",
                "-o",
                "main",
                "-C",
                "link-arg=launch.o",
                "-C",
                f"link-arg={_WRAP}",
                "main.rs",
            ),
        ),
        run=("./main",),
        script=Script(
            build=(("rustc", "--edition", "2021", "-A", "warnings", "-o", "main", "main.rs"),),
            run=("./main",),
        ),
    ),
    Language(
        name="ruby",
        aliases=("rb",),
        file="main.rb",
        launchers=("launch.rb",),
        tools=(("ruby",),),
        install="apt install ruby",
        run=("ruby", "launch.rb"),
        ending="__proctor_end__",
        script=Script(run=("ruby", "main.rb")),
    ),
    Language(
        name="php",
        file="main.php",
        launchers=("launch.php",),
        tools=(("php",),),
        install="apt install php-cli",
        run=(
            "php",
            "-d",
            "zend.assertions=1",
            "-d",
            "assert.exception=1",
            "-d",
            "display_errors=stderr",
            "launch.php",
        ),
        opening="<?php",
        ending=r";\ProctorLaunch::end();",
        shape=php_part,
        script=Script(run=("php", "-d", "display_errors=stderr", "main.php")),
    ),
    Language(
        name="bash",
        aliases=("sh", "shell"),
        fences=("zsh", "console"),
        file="main.sh",
        launchers=("launch.sh",),
        tools=(("bash",),),
        install="apt install bash",
        run=("bash", "launch.sh"),
        joint='trap \'__proctor_fail__ "$LINENO" "$BASH_COMMAND"\' ERR',
        ending="__proctor_end__",
        script=Script(run=("bash", "main.sh")),
    ),
    Language(
        name="perl",
        aliases=("pl",),
        file="main.pl",
        launchers=("launch.pl",),
        tools=(("perl",),),
        install="apt install perl",
        run=("perl", "launch.pl"),
        ending=";main::__proctor_end__();",
        script=Script(run=("perl", "main.pl")),
    ),
    Language(
        name="kotlin",
        aliases=("kt",),
        fences=("kts",),
        file="Main.kt",
        launchers=("ProctorLaunch.java",),
        tools=(("kotlinc",), ("javac",), ("java",)),
        version=("-version",),
        install="apt install kotlin default-jdk-headless",
        build=(
            ("kotlinc", "-nowarn", "Main.kt", "-include-runtime", "-d", "main.jar"),
            (*_JAVAC, "ProctorLaunch.java"),
        ),
        run=("java", *_JVM, "-ea", "-cp", ".:main.jar", "ProctorLaunch", "MainKt"),
        build_time=180.0,
        memory=3072 * MIB,
        env={"JAVA_OPTS": "-Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1"},
        first=(r"^import\s+[^\n]+",),
        shape=no_package,
        script=Script(
            build=(("kotlinc", "-nowarn", "Main.kt", "-include-runtime", "-d", "main.jar"),),
            run=("java", *_JVM, "-cp", "main.jar", "MainKt"),
        ),
    ),
    Language(
        name="sql",
        aliases=("sqlite", "sqlite3"),
        fences=("mysql", "postgresql", "postgres", "plsql", "tsql"),
        file="main.sql",
        launchers=("launch_sql.py",),
        tools=(("python3", "python"),),
        install="apt install python3",
        run=("python3", "-I", "-B", "launch_sql.py"),
        joint="-- the test begins here",
    ),
    Language(
        name="lua",
        file="main.lua",
        launchers=("launch.lua",),
        tools=(("lua", "lua5.4", "lua5.3"),),
        version=("-v",),
        install="apt install lua5.4",
        run=("lua", "launch.lua"),
        ending="; __proctor_end__()",
        script=Script(run=("lua", "main.lua")),
    ),
    Language(
        name="haskell",
        aliases=("hs",),
        file="main.hs",
        launchers=("launch.hs",),
        tools=(("ghc",),),
        install="apt install ghc",
        needs=("/var/lib/ghc",),
        build=(
            ("cp", "main.hs", "Program.hs"),
            ("ghc", "-v0", "-w", "-o", "main", "launch.hs", "Program.hs"),
        ),
        run=("./main",),
        build_time=120.0,
        memory=2048 * MIB,
        first=(r"^\{-#\s*LANGUAGE[^#]*#-\}", r"^import\s[^\n]*(?:\n[ \t]+[^\n]*)*"),
        rewrite=haskell_module,
        script=Script(build=(("ghc", "-v0", "-w", "-o", "main", "main.hs"),), run=("./main",)),
    ),
    Language(
        name="swift",
        file="main.swift",
        launchers=("launch.swift",),
        tools=(("swiftc",),),
        install="see swift.org/install",
        build=(("swiftc", "-o", "main", "launch.swift", "main.swift"),),
        run=("./main",),
        memory=2048 * MIB,
        ending="proctorEnd()",
        first=(r"^import\s+\w+",),
        rewrite=swift_begin,
        tested=False,
        script=Script(build=(("swiftc", "-o", "main", "main.swift"),), run=("./main",)),
    ),
    Language(
        name="dart",
        file="main.dart",
        launchers=("launch.dart",),
        tools=(("dart",),),
        install="see dart.dev/get-dart",
        run=("dart", "--enable-asserts", "launch.dart"),
        memory=2048 * MIB,
        first=(r"^import\s+[^;]+;",),
        tested=False,
        script=Script(run=("dart", "main.dart")),
    ),
)
