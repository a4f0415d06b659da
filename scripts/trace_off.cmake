# SPDX-License-Identifier: MIT
#
# cmake -DCOMPILER=cc -DBUILD=dir -P trace_off.cmake
#
# Fails unless the core, and a user of it, compile to the very same objects
# whether their calls of the trace are there, and off, or are taken out.

get_filename_component(root ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
set(work ${BUILD}/trace_off)
file(REMOVE_RECURSE ${work})

# A copy without the calls, each line where it was. The definitions stay.
set(calls 0)
function(copy_without_calls name)
    file(READ ${root}/${name} text)
    if(NOT name STREQUAL "executor/trace.h")
        string(REGEX MATCHALL "dz_trace(_await)?\\([^;\n]*\\)" found "${text}")
        list(LENGTH found count)
        math(EXPR count "${calls} + ${count}")
        set(calls ${count} PARENT_SCOPE)
        string(REGEX REPLACE "dz_trace(_await)?\\([^;\n]*\\);" ";"
            text "${text}")
        string(REPLACE "#define dz_trace_await(" "" rest "${text}")
        if(rest MATCHES "[^_a-z]dz_trace(_await)?\\(")
            message(FATAL_ERROR "a call of the trace in more than one line, or "
                "in an expression: ${name}")
        endif()
    endif()
    file(WRITE ${work}/${name} "${text}")
endfunction()

file(GLOB names RELATIVE ${root} ${root}/executor/*.[ch] ${root}/sync/*.[ch]
    ${root}/sim/port/*.h ${root}/bench/*.[ch])
foreach(name IN LISTS names)
    copy_without_calls(${name})
endforeach()
if(calls LESS 10)
    message(FATAL_ERROR "only ${calls} calls of the trace were found")
endif()

# Compiled in its folder, so that __FILE__ is the same in both.
function(compile folder source object)
    execute_process(COMMAND ${COMPILER} -std=c11 -I. -Isim/port ${ARGN}
        -c ${source} -o ${object}
        WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(compare source)
    get_filename_component(base ${source} NAME_WE)
    set(object ${work}/${base})
    compile(${root} ${source} ${object}_off.o -DDZ_TRACE=0 ${ARGN})
    compile(${work} ${source} ${object}_without.o -DDZ_TRACE=0 ${ARGN})
    file(SHA256 ${object}_off.o off)
    file(SHA256 ${object}_without.o without)
    if(NOT off STREQUAL without)
        message(FATAL_ERROR "a trace that is off costs something: ${source}, "
            "${ARGN}; see ${object}_off.o and ${object}_without.o")
    endif()
endfunction()

set(sources ${names})
list(FILTER sources INCLUDE REGEX "^(executor|sync)/.*\\.c$")
list(FILTER sources EXCLUDE REGEX "(_test|/law(_[a-z]+)?|/strike_[a-z]+)\\.c$")
foreach(optimisation -O2 -Os)
    foreach(source IN LISTS sources)
        compare(${source} ${optimisation})
    endforeach()
    foreach(mutex NOOP THREAD_MODE CRITICAL_SECTION)
        compare(bench/pingpong.c ${optimisation} -DPINGPONG=pingpong
            -DPINGPONG_MUTEX=DZ_${mutex} -DPINGPONG_POLICY=DZ_QUEUE)
    endforeach()
endforeach()

# It would have been seen.
compile(${root} executor/executor.c ${work}/on.o -DDZ_TRACE=1 -Os)
file(SHA256 ${work}/on.o on)
file(SHA256 ${work}/executor_off.o off)
if(on STREQUAL off)
    message(FATAL_ERROR "a trace that is on is not seen")
endif()
list(LENGTH sources count)
message(STATUS "${calls} calls in ${count} files: not a byte")
