/* Threads that help the thread of a call: they are started for one task and end with it.

   In: a function that claims parts of a task until none is left. Out: the task is done.

   A thread that helps has no Python: it calls no function of it but for locks, takes no GIL, and leaves to the thread
   that it helps whatever Python has to tell. So no thread waits for another but the one that is helped, at the end, and
   that one looks for signals meanwhile. In the child of a fork, where the helpers are not, it does their part too. */
#ifndef TRIETOK_KERNEL_CREW_H
#define TRIETOK_KERNEL_CREW_H

#include "_kernel_state.h"

enum { MOST_THREADS = 64, MICROSECONDS_BETWEEN_LOOKS = 50000 };

/* Threads that work on tasks that are shared now, those that are helped too; and of how many forks this process is the
   child since the kernel was loaded. */
static _Atomic size_t at_work;
static _Atomic unsigned forks;

typedef struct {
    void (*work)(void *task, size_t thread);
    void *task;
    size_t helpers;
    unsigned forks;
    _Atomic size_t begun, running; /* helpers; of the running ones the one that is helped is one */
    PyThread_type_lock ended;      /* given free by the last that runs */
} Crew;

/* Where the program ends, Python ends the thread that is helped as soon as that wants the GIL, and its stack goes. The
   helpers run on. So a crew lies on no stack, nor does its task, where the thread that is helped may ask Python before
   `end_crew` has waited for them; they stay where they are then. */

static void help(void *argument)
{
    Crew *crew = argument;
    PyThread_type_lock ended = crew->ended; /* the crew is gone as soon as the last has left it */
    crew->work(crew->task, 1 + atomic_fetch_add(&crew->begun, 1));
    if (atomic_fetch_sub(&crew->running, 1) == 1) /* the last of them */
        PyThread_release_lock(ended);
}

/* Start helpers, with the GIL: as many as are wanted, unless there are `most` threads at work already, or the system
   gives no more. They are 1, 2, ... to the task, and the thread that calls this is 0. */
static void start_crew(Crew *crew, size_t wanted, size_t most, void (*work)(void *, size_t), void *task)
{
    *crew = (Crew){work, task, 0, atomic_load(&forks), 0, 1, NULL};
    size_t others = atomic_load(&at_work);
    if (wanted + 1 + others > most)
        wanted = most > 1 + others ? most - 1 - others : 0;
    if (!wanted || !(crew->ended = PyThread_allocate_lock()))
        return;
    PyThread_acquire_lock(crew->ended, NOWAIT_LOCK);
    for (; crew->helpers < wanted; crew->helpers++) {
        atomic_fetch_add(&crew->running, 1);
        if (PyThread_start_new_thread(help, crew) == (unsigned long)-1) {
            atomic_fetch_sub(&crew->running, 1);
            break;
        }
    }
    atomic_fetch_add(&at_work, crew->helpers + 1);
}

/* Whether this process is a child that was forked while the crew was at work: only the thread that is helped is in
   it. */
static int is_lost(const Crew *crew) { return crew->helpers && crew->forks != atomic_load(&forks); }

/* Wait, without the GIL, until all helpers have ended. Where there is a call, it looks for signals meanwhile, and the
   helpers are told to stop once that has failed. */
static void end_crew(Crew *crew, Call *call, _Atomic int *told_to_stop)
{
    int has_ended = !crew->ended || is_lost(crew) || atomic_fetch_sub(&crew->running, 1) == 1;
    while (!has_ended) {
        has_ended = PyThread_acquire_lock_timed(crew->ended, MICROSECONDS_BETWEEN_LOOKS, 1) == PY_LOCK_ACQUIRED
                    && !atomic_load(&crew->running);
        if (call && !has_ended && !atomic_load(told_to_stop) && look_for_signals(call))
            atomic_store(told_to_stop, 1);
        has_ended |= is_lost(crew); /* what handles a signal may fork */
    }
    if (crew->ended)
        PyThread_free_lock(crew->ended);
    if (crew->ended && !is_lost(crew))
        atomic_fetch_sub(&at_work, crew->helpers + 1);
}

#endif
