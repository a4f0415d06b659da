# SPDX-License-Identifier: MIT
#
# cmake -DBUILD=dir -DCOMPILER=cc "-DFLAGS=..." -P outside.cmake
#
# Installs the build into a prefix of its own, then builds and runs outside/
# against it, found by find_package and by pkg-config.

set(source ${CMAKE_CURRENT_LIST_DIR}/outside)
set(work ${BUILD}/outside)
set(prefix ${work}/prefix)

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

run(${CMAKE_COMMAND} -S ${source} -B ${work}/found -G Ninja
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${COMPILER}
    "-DCMAKE_C_FLAGS=${FLAGS}")
run(${CMAKE_COMMAND} --build ${work}/found)
run(${work}/found/outside)

file(GLOB_RECURSE pc ${prefix}/doze.pc)
get_filename_component(pc_folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_folder})
execute_process(COMMAND pkg-config --cflags --libs doze
    OUTPUT_VARIABLE pc_flags OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(pc_flags UNIX_COMMAND "${pc_flags}")
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
run(${COMPILER} ${FLAGS} ${source}/main.c ${pc_flags} -o ${work}/by_pc)
run(${work}/by_pc)
