# SPDX-License-Identifier: MIT
# Toolchain: clang, with the headers and libraries of arm-none-eabi-gcc, which
# links. The preset has options that both understand.
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET arm-none-eabi)

execute_process(COMMAND arm-none-eabi-gcc -print-file-name=libc.a
    OUTPUT_VARIABLE newlib OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(newlib ${newlib}/../../include REALPATH)
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${newlib})

set(CMAKE_C_LINK_EXECUTABLE
    "arm-none-eabi-gcc <FLAGS> -Wl,-z,noexecstack <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
