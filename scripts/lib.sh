# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
#
# lib.sh -- what scripts/bench and scripts/test share: find what they need,
# install what is missing, build
#
# Sourced by bash; sets root.

set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
program=$(basename "$0")
may_install=yes

say() {
    printf '%s\n' "$*" >&2
}

# One clear line, and exit code 2: nothing has been changed.
die() {
    say "$program: $*"
    exit 2
}

have() {
    command -v "$1" >/dev/null 2>&1
}

has_header() {
    have cc && printf '#include <%s>\n' "$1" |
        cc -I"$root/build/deps/include" -fsyntax-only -x c - 2>/dev/null
}

has_python_module() {
    python_with "$1" >/dev/null
}

# The first Python that has all of the modules. The system's package manager
# serves /usr/bin/python3, which may not be the first on the PATH.
python_with() {
    local python module

    for python in python3 /usr/bin/python3; do
        have "$python" || continue
        for module in "$@"; do
            "$python" -c "import $module" 2>/dev/null || continue 2
        done
        echo "$python"
        return
    done
    return 1
}

# What a thing is called by each package manager, in the order of `managers`.
# A dash: it is part of something else there, or not to be had.
managers=(apt-get dnf pacman apk brew)
package_names() {
    case $1 in
    gcc) echo 'gcc gcc gcc gcc -' ;;
    g++) echo 'g++ gcc-c++ gcc g++ -' ;;
    clang) echo 'clang clang clang clang llvm' ;;
    valgrind) echo 'valgrind valgrind valgrind valgrind -' ;;
    libc) echo 'libc6-dev glibc-devel glibc musl-dev -' ;;
    cmake) echo 'cmake cmake cmake cmake cmake' ;;
    ninja) echo 'ninja-build ninja-build ninja samurai ninja' ;;
    pkg-config) echo 'pkg-config pkgconf pkgconf pkgconf pkgconf' ;;
    libuv) echo 'libuv1-dev libuv-devel libuv libuv-dev libuv' ;;
    benchmark) echo 'libbenchmark-dev google-benchmark-devel benchmark benchmark-dev google-benchmark' ;;
    cmocka) echo 'libcmocka-dev libcmocka-devel cmocka cmocka-dev cmocka' ;;
    hdr) echo '- HdrHistogram_c-devel - - hdrhistogram_c' ;;
    npm) echo 'npm npm npm npm node' ;;
    python) echo 'python3 python3 python python3 python3' ;;
    matplotlib) echo 'python3-matplotlib python3-matplotlib python-matplotlib py3-matplotlib python-matplotlib' ;;
    arm-gcc) echo 'gcc-arm-none-eabi arm-none-eabi-gcc-cs arm-none-eabi-gcc gcc-arm-none-eabi gcc-arm-embedded' ;;
    newlib) echo 'libnewlib-arm-none-eabi arm-none-eabi-newlib arm-none-eabi-newlib newlib-arm-none-eabi -' ;;
    qemu-arm) echo 'qemu-system-arm qemu-system-arm qemu-system-arm qemu-system-arm qemu' ;;
    pytest) echo 'python3-pytest python3-pytest python-pytest py3-pytest pytest' ;;
    esac
}

# The index of the package manager of this machine.
manager_index() {
    local i

    for i in "${!managers[@]}"; do
        if have "${managers[i]}"; then
            echo "$i"
            return
        fi
    done
    return 1
}

package_of() {
    local names

    read -r -a names <<<"$(package_names "$1")"
    [ "${names[$manager]}" = - ] || echo "${names[$manager]}"
}

install_command() {
    case ${managers[$manager]} in
    apt-get) echo "apt-get install -y --no-install-recommends $*" ;;
    dnf) echo "dnf install -y $*" ;;
    pacman) echo "pacman -S --noconfirm --needed $*" ;;
    apk) echo "apk add $*" ;;
    brew) echo "brew install $*" ;;
    esac
}

# As whom to install: root may, sudo may without a password, brew needs none.
privilege() {
    if [ "$(id -u)" = 0 ] || [ "${managers[$manager]}" = brew ]; then
        echo ''
    elif have sudo && sudo -n true 2>/dev/null; then
        echo 'sudo'
    else
        return 1
    fi
}

# install PACKAGE...
install_packages() {
    local command as

    command=$(install_command "$@")
    as=$(privilege) || die "please run this, then again $program: sudo $command"
    [ $may_install = yes ] ||
        die "please run this, then again $program: ${as:+$as }$command"
    say "+ $as $command"
    if [ "${managers[$manager]}" = apt-get ]; then
        $as apt-get update -qq >&2 || say "no fresh package lists; going on"
        as="$as env DEBIAN_FRONTEND=noninteractive"
    fi
    # Words: the command and its packages.
    # shellcheck disable=SC2086
    $as $command >"$root/build/install.log" 2>&1 ||
        die "that failed; its output is in build/install.log"
}

# need NAME 'what for' COMMAND...   COMMAND succeeds if it is there.
missing=()
need() {
    local name=$1 purpose=$2

    shift 2
    "$@" && return
    say "missing: $name, $purpose"
    missing+=("$name")
}

install_missing() {
    local name package packages=()

    [ ${#missing[@]} -gt 0 ] || return 0
    manager=$(manager_index) ||
        die "no known package manager; please install: ${missing[*]}"
    for name in "${missing[@]}"; do
        package=$(package_of "$name")
        [ -z "$package" ] || packages+=("$package")
    done
    missing=()
    [ ${#packages[@]} -eq 0 ] || install_packages "${packages[@]}"
}

# HdrHistogram_c is not packaged everywhere. Where it is not, its source is
# taken from the npm package that ships it whole, at a version and with a
# checksum that are written down here, and built into build/deps.
hdr_package=native-hdr-histogram
hdr_version=1.0.0
hdr_sha256=eb6feca66739e670eac90d41fbbe69a6eb084491f3e7cf8556d31ac651c1d600
hdr_source=package/HdrHistogram_c/src

# In build/deps. Each step needs the one before it.
build_hdr_here() {
    local tarball=$hdr_package-$hdr_version.tgz

    mkdir -p include/hdr lib &&
        npm pack "$hdr_package@$hdr_version" &&
        echo "$hdr_sha256  $tarball" | sha256sum -c - &&
        tar xzf "$tarball" &&
        cc -O2 -c $hdr_source/hdr_histogram.c -o hdr_histogram.o &&
        ar rcs lib/libhdr_histogram.a hdr_histogram.o &&
        cp $hdr_source/hdr_histogram.h include/hdr/ &&
        rm -rf package hdr_histogram.o "$tarball"
}

build_hdr() {
    [ $may_install = yes ] ||
        die "please run $program without --no-install once: it builds" \
            "HdrHistogram_c from the npm package $hdr_package into build/deps"
    say "building HdrHistogram_c from the npm package $hdr_package"
    mkdir -p "$root/build/deps"
    (cd "$root/build/deps" && build_hdr_here) >"$root/build/install.log" 2>&1 ||
        die "HdrHistogram_c could not be built; see build/install.log"
}

# Everything that building needs, with a reason for each.
need_build_tools() {
    make_build_folder
    need gcc 'the compiler' have gcc
    need g++ 'for the one C++ file, which talks to Google Benchmark' have g++
    need libc 'the headers of the C library' has_header stdio.h
    need cmake 'configures the build' have cmake
    need ninja 'runs the build' have ninja
    need pkg-config 'finds libraries' have pkg-config
    need libuv 'the loop on which simulated peripherals live' has_header uv.h
    need benchmark 'Google Benchmark' has_library benchmark
    need cmocka 'the test framework' has_library cmocka
    need hdr 'latency percentiles' has_header hdr/hdr_histogram.h
}

# The builds that are measured on a Cortex-M4.
target_presets=(cortex-m4 cortex-m4-lto cortex-m4-o2 cortex-m4-o2-lto
    cortex-m4-clang)

has_newlib() {
    have arm-none-eabi-gcc && echo '#include <newlib.h>' |
        arm-none-eabi-gcc -specs=nano.specs -fsyntax-only -x c - 2>/dev/null
}

# The same for the board that QEMU emulates.
need_target_tools() {
    make_build_folder
    need arm-gcc 'the compiler for the Cortex-M4' have arm-none-eabi-gcc
    need clang 'the second compiler' have clang
    need newlib 'the C library on the Cortex-M4' has_newlib
    need qemu-arm 'runs programs for the Cortex-M4' have qemu-system-arm
    need cmake 'configures the build' have cmake
    need ninja 'runs the build' have ninja
    need python 'counts' have python3
}

has_library() {
    have pkg-config && pkg-config --exists "$1"
}

install_build_tools() {
    install_missing
    has_header hdr/hdr_histogram.h && return
    need npm 'brings the source of HdrHistogram_c' have npm
    install_missing
    build_hdr
}

# build PRESET [TARGET...]: configures anew, in case somebody has changed the
# options, and builds what has changed.
build() {
    local preset=$1 targets=()

    shift
    [ $# -eq 0 ] || targets=(--target "$@")
    say "building: $preset"
    (
        cd "$root" &&
            cmake --preset "$preset" &&
            cmake --build --preset "$preset" ${targets[@]+"${targets[@]}"}
    ) >"$root/build/$preset.log" 2>&1 || {
        tail -n 30 "$root/build/$preset.log" >&2
        say "$program: the build of $preset failed;" \
            "all its output is in build/$preset.log"
        return 1
    }
}

# Where logs and builds go.
make_build_folder() {
    if ! mkdir -p "$root/build" 2>/dev/null || [ ! -w "$root/build" ]; then
        die "cannot write to $root/build"
    fi
}
