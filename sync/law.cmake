# SPDX-License-Identifier: MIT
# Random operations on X against a model of it: X_law_test.c (sync/law.h). Twice:
# as it is, and as a target ships it, with the sources once more. Then to walk
# away from a wait is right.
if(NOT BUILD_TESTING)
    return()
endif()
set(laws barrier channel event_flags mutex once_lock pipe priority_channel
    pubsub queue rpc rwlock semaphore signal units watch zerocopy)
doze_sources(law_sources executor sync)

# What a law test is linked with: these sources, and what it runs on.
function(doze_law_library name checks)
    add_library(${name} OBJECT EXCLUDE_FROM_ALL law.c law_run.c ${ARGN})
    target_compile_definitions(${name} PUBLIC DZ_CHECKS=${checks})
    target_link_libraries(${name} PRIVATE doze_flags)
    target_link_options(${name} INTERFACE -Wl,--wrap=dz_waiter_cancel
        -Wl,--wrap=dz_waiter_enter -Wl,--wrap=dz_waiter_leave
        -Wl,--wrap=dz_waiter_turn_to -Wl,--wrap=dz_waiter_withdraw)
endfunction()
function(doze_law_binary target file library)
    add_executable(${target} ${file})
    target_link_libraries(${target} PRIVATE ${library} ${ARGN} doze_flags)
endfunction()

if(DOZE_TARGET)
    # The host's half, for what is compared. Its tools and options are its own.
    include(ExternalProject)
    ExternalProject_Add(law_on_host
        SOURCE_DIR ${PROJECT_SOURCE_DIR}
        BINARY_DIR ${PROJECT_BINARY_DIR}/host
        CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DDOZE_BENCH=OFF
        BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target law_lean
        BUILD_ALWAYS ON INSTALL_COMMAND "")

    list(APPEND law_sources
        law_board.c ${PROJECT_SOURCE_DIR}/sim/port/panic_text.c)
    doze_law_library(doze_law 1 ${law_sources})
    doze_law_library(doze_law_walk 0 ${law_sources})
    foreach(library doze_law doze_law_walk)
        target_include_directories(${library} BEFORE PUBLIC law_port)
        target_link_libraries(${library} PUBLIC doze_port doze_board)
    endforeach()
    # What it prints is the same on both. So many steps, for each configuration,
    # take QEMU about 3 s.
    set(law_steps 20000)
    function(doze_law_on_both test binary lean)
        add_test(NAME ${test} COMMAND ${CMAKE_COMMAND}
            "-DTARGET=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:${binary}>"
            -DHOST=${PROJECT_BINARY_DIR}/host/sync/${lean}
            -DSTEPS=${law_steps}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/law_on_both.cmake)
        set_tests_properties(${test} PROPERTIES TIMEOUT 300)
    endfunction()
    foreach(name IN LISTS laws)
        set(binary sync_${name}_law)
        doze_law_binary(${binary}_test ${name}_law_test.c doze_law doze_newlib)
        doze_law_binary(
            ${binary}_walk ${name}_law_test.c doze_law_walk doze_newlib)
        doze_law_on_both(sync/${name}_law ${binary}_test ${binary}_lean)
        doze_law_on_both(sync/${name}_law/walk
            ${binary}_walk ${binary}_lean_walk)
    endforeach()
    return()
endif()

# On one core and without a trace, as a target is, an interrupt has fewer places
# to strike at: with these a target is compared.
set(law_host law_host.c law_shorten.c)
doze_law_library(doze_law 1 ${law_host})
doze_law_library(doze_law_walk 0 ${law_host} ${law_sources})
doze_law_library(doze_law_lean 1 ${law_host})
doze_law_library(doze_law_lean_walk 0 ${law_host} ${law_sources})
foreach(library doze_law doze_law_walk doze_law_lean doze_law_lean_walk)
    if(library MATCHES lean)
        target_link_libraries(${library} PUBLIC doze_lean)
    else()
        target_link_libraries(${library} PUBLIC doze::sim)
    endif()
    target_link_libraries(${library} PUBLIC PkgConfig::CMOCKA)
    target_link_options(${library} INTERFACE -Wl,--wrap=dz_core_run_pending)
endforeach()

add_custom_target(law_lean)
function(doze_law_lean target file library)
    doze_law_binary(${target} ${file} ${library})
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(law_lean ${target})
endfunction()
function(doze_law name)
    set(binary sync_${name}_law)
    doze_law_binary(${binary}_test ${name}_law_test.c doze_law)
    doze_law_binary(${binary}_walk ${name}_law_test.c doze_law_walk)
    doze_law_lean(${binary}_lean ${name}_law_test.c doze_law_lean)
    doze_law_lean(${binary}_lean_walk ${name}_law_test.c doze_law_lean_walk)
    add_test(NAME sync/${name}_law/virtual COMMAND ${binary}_test)
    add_test(NAME sync/${name}_law/walk/virtual COMMAND ${binary}_walk)
    set_tests_properties(
        sync/${name}_law/virtual sync/${name}_law/walk/virtual
        PROPERTIES TIMEOUT 300 ENVIRONMENT DOZE_TIME=virtual)
endfunction()
foreach(name IN LISTS laws)
    doze_law(${name})
endforeach()

doze_law_binary(sync_law_test law_test.c doze_law)
doze_law_binary(sync_law_walk law_test.c doze_law_walk)
add_test(NAME sync/law COMMAND sync_law_test)
add_test(NAME sync/law/walk COMMAND sync_law_walk)
set_tests_properties(sync/law sync/law/walk PROPERTIES TIMEOUT 300)
