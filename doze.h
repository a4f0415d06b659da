/* SPDX-License-Identifier: MIT */
#ifndef DOZE_H
#define DOZE_H

/*
 * doze -- async tasks and synchronisation primitives for microcontrollers
 *
 * All public headers at once, but for those of the simulated machine (sim/).
 * Each opens with an essay: what it is, what it guarantees, an example.
 */

#include "executor/async.h"
#include "executor/block_on.h"
#include "executor/cancel.h"
#include "executor/deadline.h"
#include "executor/executor.h"
#include "executor/fork.h"
#include "executor/join.h"
#include "executor/priority.h"
#include "executor/select.h"
#include "executor/task.h"
#include "executor/time.h"
#include "executor/timer.h"
#include "executor/waiter.h"
#include "sync/barrier.h"
#include "sync/blocking_mutex.h"
#include "sync/channel.h"
#include "sync/event_flags.h"
#include "sync/lazy_lock.h"
#include "sync/mutex.h"
#include "sync/once_lock.h"
#include "sync/pipe.h"
#include "sync/priority_channel.h"
#include "sync/pubsub.h"
#include "sync/raw_mutex.h"
#include "sync/rpc.h"
#include "sync/rwlock.h"
#include "sync/semaphore.h"
#include "sync/signal.h"
#include "sync/waker.h"
#include "sync/watch.h"
#include "sync/zerocopy.h"

#endif
