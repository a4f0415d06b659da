# SPDX-License-Identifier: MIT
# Runs a law test on the target and on the host, and compares what they print.
# DOZE_STEPS and DOZE_SEED in the environment are for both.
#     cmake -DTARGET=... -DHOST=... -DSTEPS=... -P law_on_both.cmake
if(NOT DEFINED ENV{DOZE_STEPS})
    set(ENV{DOZE_STEPS} ${STEPS})
endif()
if(NOT DEFINED ENV{DOZE_SEED})
    set(ENV{DOZE_SEED} 1)
endif()
execute_process(
    COMMAND ${TARGET} -append
        "DOZE_STEPS=$ENV{DOZE_STEPS} DOZE_SEED=$ENV{DOZE_SEED}"
    OUTPUT_VARIABLE on_target RESULT_VARIABLE failed TIMEOUT 250)
message("${on_target}")
if(failed)
    message(FATAL_ERROR "It failed on the target: ${failed}")
endif()
execute_process(COMMAND ${HOST} OUTPUT_VARIABLE on_host RESULT_VARIABLE failed)
if(failed OR NOT on_target STREQUAL on_host)
    message("${on_host}")
    message(FATAL_ERROR "On the host that is different")
endif()
