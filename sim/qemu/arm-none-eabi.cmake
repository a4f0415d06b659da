# SPDX-License-Identifier: MIT
# Toolchain: arm-none-eabi-gcc with newlib. The preset says which core.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# So ctest runs a program on the board: 1 instruction takes 2^8 ns.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-system-arm -M mps2-an386
    -icount shift=8,sleep=off -display none -monitor none -serial stdio
    -semihosting-config enable=on,target=native -kernel)
