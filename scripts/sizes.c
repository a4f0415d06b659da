/* SPDX-License-Identifier: MIT */

/*
 * sizes -- each primitive once, each of its operations as a function
 *
 * Compiled by scripts/sizes for a Cortex-M4; never linked and never run. The
 * names of the symbols say which row of the table they belong to, and in which
 * order they stand here is the order of the rows:
 *
 *     RAM(ROW, type)               what one object takes
 *     ... ROW__OPERATION(...)      a function that does the operation, and
 *                                  nothing else
 *
 * A row is called as its objects are, with _ for blanks; those of objects.h
 * that have no operations are left out. The first row is what every program
 * has: its code is not counted again in the others.
 */

#include "scripts/objects.h"

#define RAM(row, type) char row##__ram[sizeof(type)];

OBJECTS(RAM)

/* ---- executor */

enum dz_poll empty_poll(struct empty *self);

DZ_TASK_POOL(empties, struct empty, empty_poll, 1)

void executor__init(struct dz_executor *self)
{
    dz_executor_init(self, "main");
}

enum dz_status executor__claim(struct empty **frame)
{
    return empties_claim(frame);
}

void executor__spawn(struct dz_executor *self, struct dz_task *task)
{
    dz_executor_spawn(self, task);
}

void executor__run(struct dz_executor *self)
{
    dz_executor_run(self);
}

void executor__wake(struct dz_task *task)
{
    dz_task_wake(task);
}

/* ---- interrupt executor */

RAM(interrupt_executor, struct dz_executor)

void interrupt_executor__start(struct dz_executor *self)
{
    dz_executor_start(self, 3, 1);
}

void interrupt_executor__poll(struct dz_executor *self)
{
    dz_executor_poll(self);
}

/* ---- executor by priority */

void executor_by_priority__init(struct priority_executor *self)
{
    dz_executor_init_priority(&self->executor, &self->queue, "main");
}

void executor_by_priority__set(struct dz_task *task, unsigned priority)
{
    dz_task_set_priority(task, priority);
}

/* ---- executor by deadline */

void executor_by_deadline__init(struct deadline_executor *self)
{
    dz_executor_init_deadline(&self->executor, &self->queue, "main");
}

void executor_by_deadline__set(struct dz_task *task, uint64_t deadline)
{
    dz_task_set_deadline(task, deadline);
}

/* ---- task */

enum dz_poll task__yield(void)
{
    return dz_yield_poll();
}

/* ---- task with a timer */

enum dz_poll task_with_a_timer__wait(
    struct sleeper *self, struct dz_duration duration)
{
    return dz_timer_after(&self->timer, duration);
}

/* ---- task with a deadline */

enum dz_poll urgent_poll(struct urgent *self);

DZ_TASK_POOL_DEADLINE(urgents, struct urgent, urgent_poll, 1)

void task_with_a_deadline__set(struct urgent *self, uint64_t deadline)
{
    dz_task_set_deadline(&self->task, deadline);
}

/* ---- task that can be cancelled */

enum dz_poll download_poll(struct download *self);

DZ_TASK_POOL_CANCELLABLE(downloads, struct download, download_poll, 1)

enum dz_status task_that_can_be_cancelled__claim(struct download **frame)
{
    return downloads_claim(frame);
}

void task_that_can_be_cancelled__cancel(struct download *self)
{
    dz_task_cancel(&self->task);
}

/* ---- guard */

void guard__enter(struct dz_guard *self, void (*drop)(struct dz_guard *guard))
{
    dz_guard_enter(self, drop);
}

void guard__leave(struct dz_guard *self)
{
    dz_guard_leave(self);
}

/* ---- block_on: its executor, which is on the stack */

RAM(block_on, struct dz_executor)

void block_on__await(enum dz_poll (*poll)(void *argument), void *argument)
{
    dz_block_on(poll, argument);
}

/* ---- ticker */

void ticker__init(struct dz_ticker *self, struct dz_duration period)
{
    dz_ticker_init(self, period, DZ_TICKER_SKIP);
}

enum dz_poll ticker__tick(struct dz_ticker *self)
{
    return dz_ticker_poll(self);
}

/* ---- select of 2 */

enum dz_poll first_poll(void);
enum dz_poll second_poll(void);

enum dz_poll select_of_2__await(struct dz_select2 *self)
{
    return dz_select2(self, first_poll(), second_poll());
}

/* ---- timeout */

enum dz_poll timeout__await(
    struct dz_timeout *self, struct dz_duration duration)
{
    return dz_timeout(self, duration, first_poll());
}

/* ---- join of 2 */

enum dz_poll join_of_2__await(struct dz_join2 *self)
{
    return dz_join2(self, first_poll(), second_poll());
}

/* ---- atomic waker */

void atomic_waker__register(struct dz_atomic_waker *self)
{
    dz_atomic_waker_register(self);
}

void atomic_waker__wake(struct dz_atomic_waker *self)
{
    dz_atomic_waker_wake(self);
}

/* ---- barrier of 3 */

enum dz_poll barrier_of_3__wait(struct trio *self)
{
    return trio_wait(self);
}

unsigned barrier_of_3__waiting(struct trio *self)
{
    return trio_waiting(self);
}

/* ---- blocking mutex of a word */

uint32_t *blocking_mutex_of_a_word__lock(struct word_mutex *self, dz_key *key)
{
    return word_mutex_lock(self, key);
}

void blocking_mutex_of_a_word__unlock(struct word_mutex *self, dz_key key)
{
    word_mutex_unlock(self, key);
}

/* ---- channel of 4 words */

enum dz_poll channel_of_4_words__send(
    struct word_channel *self, const uint32_t *word)
{
    return word_channel_send(self, word);
}

enum dz_poll channel_of_4_words__receive(
    struct word_channel *self, uint32_t *word)
{
    return word_channel_receive(self, word);
}

bool channel_of_4_words__try_send(
    struct word_channel *self, const uint32_t *word)
{
    return word_channel_try_send(self, word);
}

bool channel_of_4_words__try_receive(struct word_channel *self, uint32_t *word)
{
    return word_channel_try_receive(self, word);
}

bool channel_of_4_words__peek(struct word_channel *self, uint32_t *word)
{
    return word_channel_peek(self, word);
}

enum dz_poll channel_of_4_words__ready_to_send(struct word_channel *self)
{
    return word_channel_ready_to_send(self);
}

enum dz_poll channel_of_4_words__ready_to_receive(struct word_channel *self)
{
    return word_channel_ready_to_receive(self);
}

void channel_of_4_words__clear(struct word_channel *self)
{
    word_channel_clear(self);
}

unsigned channel_of_4_words__len(struct word_channel *self)
{
    return word_channel_len(self);
}

unsigned channel_of_4_words__free(struct word_channel *self)
{
    return word_channel_free(self);
}

/* ---- event flags */

enum dz_poll event_flags__wait_any(
    struct some_flags *self, uint32_t mask, uint32_t *flags)
{
    return some_flags_wait_any(self, mask, flags);
}

enum dz_poll event_flags__wait_all(
    struct some_flags *self, uint32_t mask, uint32_t *flags)
{
    return some_flags_wait_all(self, mask, flags);
}

enum dz_poll event_flags__take_any(
    struct some_flags *self, uint32_t mask, uint32_t *flags)
{
    return some_flags_take_any(self, mask, flags);
}

enum dz_poll event_flags__take_all(
    struct some_flags *self, uint32_t mask, uint32_t *flags)
{
    return some_flags_take_all(self, mask, flags);
}

void event_flags__set(struct some_flags *self, uint32_t mask)
{
    some_flags_set(self, mask);
}

void event_flags__clear(struct some_flags *self, uint32_t mask)
{
    some_flags_clear(self, mask);
}

uint32_t event_flags__now(struct some_flags *self)
{
    return some_flags_now(self);
}

uint32_t event_flags__try_take_any(struct some_flags *self, uint32_t mask)
{
    return some_flags_try_take_any(self, mask);
}

uint32_t event_flags__try_take_all(struct some_flags *self, uint32_t mask)
{
    return some_flags_try_take_all(self, mask);
}

/* ---- lazy lock of a word */

uint32_t *lazy_lock_of_a_word__get(struct word_lazy_lock *self)
{
    return word_lazy_lock_get(self);
}

bool lazy_lock_of_a_word__is_made(struct word_lazy_lock *self)
{
    return word_lazy_lock_is_made(self);
}

/* ---- multi waker of 4 */

void multi_waker_of_4__register(struct dz_multi_waker *self)
{
    dz_multi_waker_register(self);
}

void multi_waker_of_4__wake(struct dz_multi_waker *self)
{
    dz_multi_waker_wake(self);
}

/* ---- mutex of a word */

enum dz_poll mutex_of_a_word__lock(
    struct async_word_mutex *self, uint32_t **word)
{
    return async_word_mutex_lock(self, word);
}

uint32_t *mutex_of_a_word__try_lock(struct async_word_mutex *self)
{
    return async_word_mutex_try_lock(self);
}

void mutex_of_a_word__unlock(struct async_word_mutex *self)
{
    async_word_mutex_unlock(self);
}

/* ---- once lock of a word */

enum dz_poll once_lock_of_a_word__get(
    struct word_once_lock *self, const uint32_t **word)
{
    return word_once_lock_get(self, word);
}

const uint32_t *once_lock_of_a_word__try_get(struct word_once_lock *self)
{
    return word_once_lock_try_get(self);
}

bool once_lock_of_a_word__init(
    struct word_once_lock *self, const uint32_t *word)
{
    return word_once_lock_init(self, word);
}

const uint32_t *once_lock_of_a_word__get_or_init(
    struct word_once_lock *self, void (*make)(uint32_t *word))
{
    return word_once_lock_get_or_init(self, make);
}

bool once_lock_of_a_word__try_take(struct word_once_lock *self, uint32_t *word)
{
    return word_once_lock_try_take(self, word);
}

/* ---- pipe of 16 bytes */

enum dz_poll pipe_of_16_bytes__write(
    struct byte_pipe *self, const void *bytes, size_t len, size_t *count)
{
    return byte_pipe_write(self, bytes, len, count);
}

enum dz_poll pipe_of_16_bytes__write_all(
    struct byte_pipe *self, const void *bytes, size_t len, size_t *progress)
{
    return byte_pipe_write_all(self, bytes, len, progress);
}

enum dz_poll pipe_of_16_bytes__read(
    struct byte_pipe *self, void *bytes, size_t len, size_t *count)
{
    return byte_pipe_read(self, bytes, len, count);
}

enum dz_poll pipe_of_16_bytes__read_exact(
    struct byte_pipe *self, void *bytes, size_t len, size_t *progress)
{
    return byte_pipe_read_exact(self, bytes, len, progress);
}

enum dz_poll pipe_of_16_bytes__fill(
    struct byte_pipe *self, const uint8_t **bytes, size_t *len)
{
    return byte_pipe_fill(self, bytes, len);
}

size_t pipe_of_16_bytes__try_write(
    struct byte_pipe *self, const void *bytes, size_t len)
{
    return byte_pipe_try_write(self, bytes, len);
}

bool pipe_of_16_bytes__try_write_all(
    struct byte_pipe *self, const void *bytes, size_t len)
{
    return byte_pipe_try_write_all(self, bytes, len);
}

size_t pipe_of_16_bytes__try_read(
    struct byte_pipe *self, void *bytes, size_t len)
{
    return byte_pipe_try_read(self, bytes, len);
}

void pipe_of_16_bytes__consume(struct byte_pipe *self, size_t count)
{
    byte_pipe_consume(self, count);
}

void pipe_of_16_bytes__clear(struct byte_pipe *self)
{
    byte_pipe_clear(self);
}

size_t pipe_of_16_bytes__len(struct byte_pipe *self)
{
    return byte_pipe_len(self);
}

size_t pipe_of_16_bytes__free(struct byte_pipe *self)
{
    return byte_pipe_free(self);
}

/* ---- priority channel of 4 words */

enum dz_poll priority_channel_of_4_words__send(
    struct word_priority_channel *self, const uint32_t *word)
{
    return word_priority_channel_send(self, word);
}

enum dz_poll priority_channel_of_4_words__receive(
    struct word_priority_channel *self, uint32_t *word)
{
    return word_priority_channel_receive(self, word);
}

bool priority_channel_of_4_words__try_send(
    struct word_priority_channel *self, const uint32_t *word)
{
    return word_priority_channel_try_send(self, word);
}

bool priority_channel_of_4_words__try_receive(
    struct word_priority_channel *self, uint32_t *word)
{
    return word_priority_channel_try_receive(self, word);
}

bool priority_channel_of_4_words__peek(
    struct word_priority_channel *self, uint32_t *word)
{
    return word_priority_channel_peek(self, word);
}

enum dz_poll priority_channel_of_4_words__ready_to_send(
    struct word_priority_channel *self)
{
    return word_priority_channel_ready_to_send(self);
}

enum dz_poll priority_channel_of_4_words__ready_to_receive(
    struct word_priority_channel *self)
{
    return word_priority_channel_ready_to_receive(self);
}

unsigned priority_channel_of_4_words__remove_if(
    struct word_priority_channel *self,
    bool (*predicate)(const uint32_t *word, void *argument), void *argument)
{
    return word_priority_channel_remove_if(self, predicate, argument);
}

void priority_channel_of_4_words__clear(struct word_priority_channel *self)
{
    word_priority_channel_clear(self);
}

unsigned priority_channel_of_4_words__len(struct word_priority_channel *self)
{
    return word_priority_channel_len(self);
}

unsigned priority_channel_of_4_words__free(struct word_priority_channel *self)
{
    return word_priority_channel_free(self);
}

/* ---- pubsub of 4 words */

enum dz_poll pubsub_of_4_words__publish(
    struct word_pubsub *self, const uint32_t *word)
{
    return word_pubsub_publish(self, word);
}

bool pubsub_of_4_words__try_publish(
    struct word_pubsub *self, const uint32_t *word)
{
    return word_pubsub_try_publish(self, word);
}

void pubsub_of_4_words__publish_immediate(
    struct word_pubsub *self, const uint32_t *word)
{
    word_pubsub_publish_immediate(self, word);
}

void pubsub_of_4_words__clear(struct word_pubsub *self)
{
    word_pubsub_clear(self);
}

unsigned pubsub_of_4_words__len(struct word_pubsub *self)
{
    return word_pubsub_len(self);
}

unsigned pubsub_of_4_words__free(struct word_pubsub *self)
{
    return word_pubsub_free(self);
}

/* ---- subscriber of a pubsub */

void subscriber_of_a_pubsub__subscribe(
    struct word_pubsub_subscriber *self, struct word_pubsub *pubsub)
{
    word_pubsub_subscribe(pubsub, self);
}

void subscriber_of_a_pubsub__unsubscribe(struct word_pubsub_subscriber *self)
{
    word_pubsub_unsubscribe(self);
}

enum dz_poll subscriber_of_a_pubsub__next(
    struct word_pubsub_subscriber *self, uint32_t *word)
{
    return word_pubsub_next(self, word);
}

bool subscriber_of_a_pubsub__try_next(
    struct word_pubsub_subscriber *self, uint32_t *word)
{
    return word_pubsub_try_next(self, word);
}

unsigned subscriber_of_a_pubsub__available(struct word_pubsub_subscriber *self)
{
    return word_pubsub_available(self);
}

unsigned subscriber_of_a_pubsub__lagged(struct word_pubsub_subscriber *self)
{
    return word_pubsub_lagged(self);
}

/* ---- rpc of words */

enum dz_poll rpc_of_words__call(
    struct word_rpc *self, const uint32_t *question, uint32_t *answer)
{
    return word_rpc_call(self, question, answer);
}

enum dz_poll rpc_of_words__receive(struct word_rpc *self, uint32_t *question)
{
    return word_rpc_receive(self, question);
}

bool rpc_of_words__try_post(struct word_rpc *self, const uint32_t *question)
{
    return word_rpc_try_post(self, question);
}

bool rpc_of_words__try_receive(struct word_rpc *self, uint32_t *question)
{
    return word_rpc_try_receive(self, question);
}

void rpc_of_words__reply(struct word_rpc *self, const uint32_t *answer)
{
    word_rpc_reply(self, answer);
}

void rpc_of_words__put_back(struct word_rpc *self)
{
    word_rpc_put_back(self);
}

/* ---- rwlock of a word */

enum dz_poll rwlock_of_a_word__read(
    struct word_rwlock *self, const uint32_t **word)
{
    return word_rwlock_read(self, word);
}

enum dz_poll rwlock_of_a_word__write(struct word_rwlock *self, uint32_t **word)
{
    return word_rwlock_write(self, word);
}

const uint32_t *rwlock_of_a_word__try_read(struct word_rwlock *self)
{
    return word_rwlock_try_read(self);
}

uint32_t *rwlock_of_a_word__try_write(struct word_rwlock *self)
{
    return word_rwlock_try_write(self);
}

void rwlock_of_a_word__unlock_read(struct word_rwlock *self)
{
    word_rwlock_unlock_read(self);
}

void rwlock_of_a_word__unlock_write(struct word_rwlock *self)
{
    word_rwlock_unlock_write(self);
}

/* ---- semaphore */

enum dz_poll semaphore__acquire(struct permits *self, unsigned count)
{
    return permits_acquire(self, count);
}

enum dz_poll semaphore__acquire_all(
    struct permits *self, unsigned min, unsigned *count)
{
    return permits_acquire_all(self, min, count);
}

bool semaphore__try_acquire(struct permits *self, unsigned count)
{
    return permits_try_acquire(self, count);
}

bool semaphore__try_acquire_all(
    struct permits *self, unsigned min, unsigned *count)
{
    return permits_try_acquire_all(self, min, count);
}

void semaphore__release(struct permits *self, unsigned count)
{
    permits_release(self, count);
}

void semaphore__set(struct permits *self, unsigned count)
{
    permits_set(self, count);
}

unsigned semaphore__free(struct permits *self)
{
    return permits_free(self);
}

/* ---- signal of a word */

void signal_of_a_word__send(struct word_signal *self, uint32_t word)
{
    word_signal_send(self, word);
}

enum dz_poll signal_of_a_word__wait(struct word_signal *self, uint32_t *word)
{
    return word_signal_wait(self, word);
}

bool signal_of_a_word__try_take(struct word_signal *self, uint32_t *word)
{
    return word_signal_try_take(self, word);
}

void signal_of_a_word__reset(struct word_signal *self)
{
    word_signal_reset(self);
}

bool signal_of_a_word__is_sent(struct word_signal *self)
{
    return word_signal_is_sent(self);
}

/* ---- waker */

void waker__register(struct dz_waker *self)
{
    dz_waker_register(self);
}

void waker__wake(struct dz_waker *self)
{
    dz_waker_wake(self);
}

/* ---- watch of a word */

void watch_of_a_word__send(struct word_watch *self, uint32_t word)
{
    word_watch_send(self, word);
}

bool watch_of_a_word__send_modify(struct word_watch *self,
    void (*modify)(uint32_t *word, void *argument), void *argument)
{
    return word_watch_send_modify(self, modify, argument);
}

bool watch_of_a_word__send_if_modified(struct word_watch *self,
    bool (*modify)(uint32_t *word, void *argument), void *argument)
{
    return word_watch_send_if_modified(self, modify, argument);
}

void watch_of_a_word__clear(struct word_watch *self)
{
    word_watch_clear(self);
}

bool watch_of_a_word__contains_value(struct word_watch *self)
{
    return word_watch_contains_value(self);
}

bool watch_of_a_word__try_get(struct word_watch *self, uint32_t *word)
{
    return word_watch_try_get(self, word);
}

/* ---- receiver of a watch */

enum dz_poll receiver_of_a_watch__get(
    struct word_watch_receiver *self, uint32_t *word)
{
    return word_watch_receiver_get(self, word);
}

enum dz_poll receiver_of_a_watch__changed(
    struct word_watch_receiver *self, uint32_t *word)
{
    return word_watch_receiver_changed(self, word);
}

enum dz_poll receiver_of_a_watch__changed_and(struct word_watch_receiver *self,
    uint32_t *word, bool (*accepts)(const uint32_t *word, void *argument),
    void *argument)
{
    return word_watch_receiver_changed_and(self, word, accepts, argument);
}

bool receiver_of_a_watch__try_get(
    struct word_watch_receiver *self, uint32_t *word)
{
    return word_watch_receiver_try_get(self, word);
}

bool receiver_of_a_watch__try_changed(
    struct word_watch_receiver *self, uint32_t *word)
{
    return word_watch_receiver_try_changed(self, word);
}

/* ---- zerocopy channel of 4 words */

enum dz_poll zerocopy_channel_of_4_words__reserve(
    struct word_zerocopy *self, uint32_t **word)
{
    return word_zerocopy_reserve(self, word);
}

enum dz_poll zerocopy_channel_of_4_words__receive(
    struct word_zerocopy *self, uint32_t **word)
{
    return word_zerocopy_receive(self, word);
}

uint32_t *zerocopy_channel_of_4_words__try_reserve(struct word_zerocopy *self)
{
    return word_zerocopy_try_reserve(self);
}

void zerocopy_channel_of_4_words__send(
    struct word_zerocopy *self, uint32_t *word)
{
    word_zerocopy_send(self, word);
}

void zerocopy_channel_of_4_words__discard(
    struct word_zerocopy *self, uint32_t *word)
{
    word_zerocopy_discard(self, word);
}

uint32_t *zerocopy_channel_of_4_words__try_receive(struct word_zerocopy *self)
{
    return word_zerocopy_try_receive(self);
}

void zerocopy_channel_of_4_words__release(
    struct word_zerocopy *self, uint32_t *word)
{
    word_zerocopy_release(self, word);
}

void zerocopy_channel_of_4_words__put_back(
    struct word_zerocopy *self, uint32_t *word)
{
    word_zerocopy_put_back(self, word);
}

void zerocopy_channel_of_4_words__clear(struct word_zerocopy *self)
{
    word_zerocopy_clear(self);
}

unsigned zerocopy_channel_of_4_words__len(struct word_zerocopy *self)
{
    return word_zerocopy_len(self);
}

unsigned zerocopy_channel_of_4_words__free(struct word_zerocopy *self)
{
    return word_zerocopy_free(self);
}
