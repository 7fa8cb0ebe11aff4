# SPDX-License-Identifier: Apache-2.0
"""Clients that a public generator makes of docs/openapi.json compile and buy: Go, Java, Python, TypeScript.

The generator and what its clients need come from the languages' own registries, into build/clients. Where a toolchain is missing
or a registry can't be reached, that language is skipped and says so. A client that was compiled of the same document by the same
words of this file is not made again; it buys again."""
import hashlib
import os
import shutil
import subprocess
import sys

from kit.harness import REPOSITORY, Failure, Server, equal, rule, run, skip

GENERATOR = "org.openapitools:openapi-generator-cli:7.9.0"
PYTHON_PACKAGES = ("pydantic==2.9.2", "urllib3==2.2.3", "python-dateutil==2.9.0", "typing-extensions==4.12.2")
TYPESCRIPT = ("typescript@5.6.3", "@types/node@20.16.11", "axios@1.7.7")
PLAIN = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"
FOLDER = os.path.join(REPOSITORY, os.environ.get("BUILD_ROOT", "build"), "clients")
PROGRAMS = os.path.join(REPOSITORY, "tests", "clients")
DOCUMENT = os.path.join(REPOSITORY, "docs", "openapi.json")
# For programs that run for seconds: compiling them well costs a machine more than it saves (generator 3.6 s of a core instead of 7.9,
# javac 6 instead of 18).
JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
server = Server().start()


def tool(name):
    return shutil.which(name) or skip(f"{name} is not installed")


def done(command, folder=FOLDER, fetches=False, **environment):
    """Its output. fetches: it needs a registry; where that can't be reached there is nothing to judge."""
    os.makedirs(folder, exist_ok=True)
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=800, env={**os.environ, **environment})
    if ended.returncode != 0:
        said = (ended.stdout + ended.stderr)[-1500:]
        if fetches:
            skip(f"{command[0]} could not fetch what it needs: {said[-200:]}")
        raise Failure(f"{' '.join(command)[:200]}:\n{said}")
    return ended.stdout


def made_of(program):
    """What a client is made of, in short."""
    made = hashlib.sha256()
    for path in (DOCUMENT, os.path.join(PROGRAMS, program), __file__):
        with open(path, "rb") as file:
            made.update(file.read())
    return made.hexdigest()


def client(language, program, make, whole=os.path.isdir):
    """The folder of a client; make() makes it, unless it is there and whole."""
    folder, mark = os.path.join(FOLDER, language), os.path.join(FOLDER, f"{language}.made")
    if os.path.exists(mark):
        with open(mark, encoding="ascii") as file:
            if file.read() == made_of(program) and whole(folder):
                return folder
        os.remove(mark)
    folder = make()
    with open(mark, "w", encoding="ascii") as file:
        file.write(made_of(program))
    return folder


def generator():
    jar = os.path.join(FOLDER, f"{GENERATOR.split(':')[1]}-{GENERATOR.split(':')[2]}.jar")
    if not os.path.exists(jar):
        done([tool("mvn"), "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy", f"-Dartifact={GENERATOR}",
              f"-DoutputDirectory={FOLDER}"], fetches=True, MAVEN_OPTS=" ".join(JVM))
    return jar


def generated(language, *options):
    folder = os.path.join(FOLDER, language)
    shutil.rmtree(folder, ignore_errors=True)
    done([tool("java"), *JVM, "-jar", generator(), "generate", "-i", DOCUMENT, "-g", language, "-o", folder, "--global-property",
          PLAIN, *options])
    return folder


def bought(command, folder, **environment):
    item = server.open_item(total=1)
    equal(done([*command, f"http://127.0.0.1:{server.port}", str(item)], folder, **environment).split(), ["won", "pending"])
    equal(server.counts(item)["held"], 1)


def go_client():
    go = tool("go")
    folder = generated("go", "--git-host", "stampede.example", "--additional-properties=packageName=api")
    with open(os.path.join(folder, "go.mod"), "w") as file:
        file.write("module stampede.example/client\n\ngo 1.19\n")
    os.makedirs(os.path.join(folder, "purchase"))
    shutil.copy(os.path.join(PROGRAMS, "purchase.go"), os.path.join(folder, "purchase", "main.go"))
    done([go, "mod", "tidy", "-e"], folder, fetches=True, GOFLAGS="-mod=mod", GOTOOLCHAIN="local")
    # Its own library is compiled too; not to optimize that takes 35 s of a core instead of 46.
    done([go, "build", "-gcflags=all=-N -l", "-o", "buy", "./purchase"], folder, GOFLAGS="-mod=mod", GOTOOLCHAIN="local")
    return folder


@rule
def a_go_client_compiles_and_buys():
    folder = client("go", "purchase.go", go_client)
    bought([os.path.join(folder, "buy")], folder)


def java_client():
    mvn = tool("mvn")
    folder = generated("java", "--library", "native", "--additional-properties=openApiNullable=false,invokerPackage=stampede.client,"
                       "apiPackage=stampede.client.api,modelPackage=stampede.client.model,groupId=stampede,artifactId=client")
    shutil.copy(os.path.join(PROGRAMS, "Purchase.java"), os.path.join(folder, "src", "main", "java"))
    done([mvn, "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classpath"], folder, fetches=True,
         MAVEN_OPTS=" ".join(JVM))
    sources = [os.path.join(place, name) for place, _, names in os.walk(os.path.join(folder, "src", "main", "java"))
               for name in names if name.endswith(".java")]
    with open(os.path.join(folder, "sources"), "w") as file:
        file.write("\n".join(sources))
    done([tool("javac"), *(f"-J{word}" for word in JVM), "-nowarn", "-cp", class_path(folder), "-d", "classes", "@sources"], folder)
    return folder


def class_path(folder):
    with open(os.path.join(folder, "classpath")) as file:
        return file.read().strip()


def java_whole(folder):
    """Whether what it needs is still where Maven keeps it."""
    return os.path.isdir(folder) and all(map(os.path.exists, class_path(folder).split(":")))


@rule
def a_java_client_compiles_and_buys():
    folder = client("java", "Purchase.java", java_client, java_whole)
    bought([tool("java"), *JVM, "-cp", f"classes:{class_path(folder)}", "Purchase"], folder)


PYTHON_FOLDER = os.path.join(FOLDER, "python-packages")


def python_client():
    folder = generated("python", "--additional-properties=packageName=stampede_client")
    if not os.path.isdir(PYTHON_FOLDER):
        done([sys.executable, "-m", "pip", "install", "-q", "--target", PYTHON_FOLDER, *PYTHON_PACKAGES], fetches=True)
    done([sys.executable, "-m", "compileall", "-q", "stampede_client"], folder)
    return folder


@rule
def a_python_client_compiles_and_buys():
    folder = client("python", "purchase.py", python_client)
    bought([sys.executable, os.path.join(PROGRAMS, "purchase.py")], folder, PYTHONPATH=f"{folder}:{PYTHON_FOLDER}")


def typescript_client():
    folder = os.path.join(FOLDER, "typescript")
    sources = generated("typescript-axios")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.move(sources, os.path.join(folder, "client"))
    shutil.copy(os.path.join(PROGRAMS, "purchase.ts"), folder)
    done([tool("npm"), "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *TYPESCRIPT],
         fetches=True)
    done([os.path.join(folder, "node_modules", ".bin", "tsc"), "--strict", "--target", "es2022", "--module", "commonjs",
          "--moduleResolution", "node", "--skipLibCheck", "--outDir", "built", "purchase.ts"], folder)
    return folder


@rule
def a_typescript_client_compiles_and_buys():
    folder = client("typescript", "purchase.ts", typescript_client)
    bought([tool("node"), os.path.join("built", "purchase.js")], folder)


run()
