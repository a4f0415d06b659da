# SPDX-License-Identifier: MIT
#
# cmake -DNM=nm "-DARCHIVES=a.a;b.a" -P undefined_symbols.cmake
#
# Fails if the archives need anything but the port, memcpy, memset and each
# other.

set(defined "")
set(undefined "")
foreach(archive IN LISTS ARCHIVES)
    execute_process(COMMAND ${NM} -g ${archive}
        OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[^\n]+" lines "${lines}")
    foreach(line IN LISTS lines)
        if(line MATCHES " U _?([^ ]+)$")
            list(APPEND undefined ${CMAKE_MATCH_1})
        elseif(line MATCHES " [A-Z] _?([^ ]+)$")
            list(APPEND defined ${CMAKE_MATCH_1})
        endif()
    endforeach()
endforeach()
list(REMOVE_DUPLICATES undefined)
if(undefined STREQUAL "" OR defined STREQUAL "")
    message(FATAL_ERROR "${NM} shows no symbols in ${ARCHIVES}")
endif()
list(REMOVE_ITEM undefined ${defined})
set(foreign ${undefined})
list(FILTER foreign EXCLUDE REGEX "^(dz_port_.*|memcpy|memset|GLOBAL_OFFSET_TABLE_)$")
if(foreign)
    message(FATAL_ERROR "the core depends on: ${foreign}")
endif()
message(STATUS "the core needs: ${undefined}")
