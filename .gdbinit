# The doorbell of simulated cores in real time (sim/real.c). gdb passes SIGURG on
# by default; this is for those who have told it otherwise.
handle SIGURG nostop noprint pass
