/* What Python receives: lists of ids, spans, columns of a batch as lists or arrays, and ids in one run of bytes.

   A call takes a worker from the pool. A batch takes one for each of its threads. Each thread claims a few texts at a
   time until all are done. Helper threads are created for one batch, or to fill its arrays. They hold the GIL only
   while they ask Python something.

   When a program exits while a daemon thread waits for its helpers, Python ends that thread as soon as it asks for
   the GIL, and its stack disappears. The helpers may still be running. Therefore a batch must not be on the stack. */
#include "kernel.h"

/* ---- workers ----------------------------------------------------------------------------------------------------- */

enum {
    MOST_THREADS = 64, /* of a batch */
    FIRST_IDS = 1024,
    FIRST_WORD = 512,
    IDS_KEPT = 1 << 16,        /* a larger buffer is reduced when its worker returns to the pool */
    CALLS_KEPT = MOST_THREADS, /* a worker that has not been used for so many calls may be freed, */
    CALLS_TO_TRIM = 1024       /* which happens after so many calls, or if another worker needs the memory */
};

static Shared forks; /* number of forks that led to this process */

PyObject *note_fork(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    shared_add(&forks, 1);
    Py_RETURN_NONE;
}

/* Whether a worker was in use during a fork. It is not counted any more; see `count_again`. */
static int is_stale(const Worker *worker) { return worker->forks != worker->kernel->forks; }

/* Whether a worker that takes more bytes would exceed its share of the limit. All workers have the same share. */
static int exceeds_share(const Worker *worker, long long more)
{
    return (worker->bytes + more) * shared_get(&worker->kernel->worker_count) > worker->kernel->limit;
}

/* Take memory from the kernel's budget. Return whether there is enough. */
int take_budget(Worker *worker, size_t bytes)
{
    Kernel *kernel = worker->kernel;
    long long wanted = (long long)bytes;
    if (is_stale(worker) || exceeds_share(worker, wanted)) {
        worker->is_refused = 1;
        return 0;
    }
    if (shared_add(&kernel->budget, -wanted) < wanted) {
        shared_add(&kernel->budget, wanted);
        worker->is_refused = 1;
        return 0;
    }
    worker->bytes += wanted;
    return 1;
}

void return_budget(Worker *worker, size_t bytes)
{
    if (!is_stale(worker))
        shared_add(&worker->kernel->budget, (long long)bytes);
    worker->bytes -= (long long)bytes;
}

static void worker_free(Worker *worker)
{
    return_budget(worker, (size_t)worker->bytes);
    cache_free(&worker->cache);
    for (size_t i = 0; i < PAGES; i++)
        xfree(worker->pages[i]);
    xfree(worker->outputs);
    xfree(worker->ids);
    xfree(worker->word);
    xfree(worker);
}

/* Free the workers in the pool that have not been used since a call. */
void pool_free(Kernel *kernel, uint64_t since)
{
    for (Worker **link = &kernel->pool, *worker; (worker = *link);) {
        if (worker->last_call > since) {
            link = &worker->next;
            continue;
        }
        *link = worker->next;
        worker_free(worker);
        shared_add(&kernel->worker_count, -1);
    }
}

/* In the child of a fork, count the workers in the pool again. Those that were in use are lost. */
static void count_again(Kernel *kernel)
{
    kernel->forks = shared_get(&forks);
    kernel->helping = 0;
    shared_add(&kernel->worker_count, -shared_get(&kernel->worker_count));
    shared_add(&kernel->budget, kernel->limit - shared_get(&kernel->budget));
    for (Worker *worker = kernel->pool; worker; worker = worker->next) {
        worker->forks = kernel->forks;
        shared_add(&kernel->worker_count, 1);
        shared_add(&kernel->budget, -worker->bytes);
    }
}

/* Create a worker. Return NULL without memory. */
static Worker *worker_new(Kernel *kernel)
{
    Worker *worker = xcalloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->kernel = kernel;
    worker->forks = kernel->forks;
    memcpy(worker->cache.seed, kernel->seed, sizeof kernel->seed);
    for (int byte = 0; byte < 256; byte++)
        worker->follow[byte] = byte == ' ' ? CHUNK_ENDS : LOOK_CLOSER;
    worker->ids_capacity = FIRST_IDS;
    worker->ids = xrealloc(NULL, FIRST_IDS * sizeof *worker->ids);
    worker->word_capacity = FIRST_WORD;
    worker->word = xrealloc(NULL, FIRST_WORD);
    if (!worker->ids || !worker->word || cache_begin(worker)) {
        worker_free(worker);
        return NULL;
    }
    shared_add(&kernel->worker_count, 1);
    return worker;
}

/* Take the worker that was returned last, or create one. Requires the GIL. Return NULL with an exception. */
static Worker *worker_take(Kernel *kernel)
{
    if (kernel->forks != shared_get(&forks))
        count_again(kernel);
    Worker *worker = kernel->pool;
    if (worker)
        kernel->pool = worker->next;
    else if (!(worker = worker_new(kernel)))
        return (Worker *)PyErr_NoMemory();
    worker->last_call = ++kernel->calls;
    if (UNLIKELY(kernel->calls > CALLS_KEPT && (worker->is_refused || kernel->calls % CALLS_TO_TRIM == 0)))
        pool_free(kernel, kernel->calls - CALLS_KEPT);
    if (worker->forgotten != kernel->forgotten || exceeds_share(worker, 0))
        cache_forget(worker);
    worker->forgotten = kernel->forgotten;
    worker->count = worker->read = 0;
    worker->enough = SIZE_MAX;
    worker->is_inside = worker->is_composed = worker->helps = worker->is_refused = 0;
    worker->stop = NULL;
    return worker;
}

/* Return a worker to the pool. Requires the GIL. */
static void worker_return(Worker *worker)
{
    Kernel *kernel = worker->kernel;
    if (is_stale(worker)) {
        worker_free(worker);
        return;
    }
    if (exceeds_share(worker, 0))
        cache_forget(worker);
    int32_t *ids = worker->ids_capacity > IDS_KEPT ? xrealloc(worker->ids, IDS_KEPT * sizeof *ids) : NULL;
    if (ids) {
        worker->ids = ids;
        worker->ids_capacity = IDS_KEPT;
    }
    worker->next = kernel->pool;
    kernel->pool = worker;
}

int grow_ids(Worker *worker, size_t more)
{
    if (more > PTRDIFF_MAX / 16 - worker->count)
        return -1;
    size_t room = 2 * (worker->count + more);
    int32_t *ids = xrealloc(worker->ids, room * sizeof *ids);
    if (!ids)
        return -1;
    worker->ids = ids;
    worker->ids_capacity = room;
    return 0;
}

/* ---- the GIL ----------------------------------------------------------------------------------------------------- */

/* Acquire the GIL, if the thread does not hold it. */
void python_enter(Worker *worker)
{
    if (worker->released)
        PyEval_RestoreThread(worker->released);
}

/* Release the GIL, if `python_enter` has acquired it. A helper keeps the first exception for the thread it helps. */
void python_leave(Worker *worker)
{
    if (worker->helps && PyErr_Occurred()) {
        if (!worker->error[0])
            PyErr_Fetch(&worker->error[0], &worker->error[1], &worker->error[2]);
        PyErr_Clear();
    }
    if (worker->released)
        worker->released = PyEval_SaveThread();
}

static void release_gil(Worker *worker) { worker->released = PyEval_SaveThread(); }

static void restore_gil(Worker *worker)
{
    if (worker->released)
        PyEval_RestoreThread(worker->released);
    worker->released = NULL;
}

/* Handle signals and let other threads run. Return -1 if the thread has to stop. */
static int check_signals(Worker *worker)
{
    if (worker->stop && shared_get(worker->stop))
        return -1;
    if (worker->helps)
        return 0; /* Python handles signals in its main thread */
    python_enter(worker);
    int result = PyErr_CheckSignals();
    python_leave(worker);
    return result;
}

/* Called between words. Clear the cache if it is full, which invalidates its entries. Check for signals after every
   CHECKPOINT_BYTES. */
int checkpoint(Worker *worker, const uint8_t *at)
{
    if (worker->is_inside)
        return 0; /* the caller still uses words that it has read ahead */
    if (UNLIKELY(worker->cache.is_full))
        cache_forget(worker);
    if (worker->is_composed || at - worker->checked <= CHECKPOINT_BYTES)
        return 0;
    worker->checked = at;
    return check_signals(worker);
}

/* ---- lists of ints ----------------------------------------------------------------------------------------------- */

enum { INTS_AHEAD = 12 }; /* ints are far apart in memory, so they are prefetched */

/* A new reference to an int. Small ones are created once. */
static inline PyObject *int_of(const Kernel *kernel, long long number)
{
    if ((size_t)number >= INTS_KEPT)
        return PyLong_FromLongLong(number);
    PyObject **made = &kernel->ints[number];
    if (!*made)
        *made = PyLong_FromLongLong(number);
    return Py_XNewRef(*made);
}

/* A list that is filled from the front. `list` is NULL after an error. */
typedef struct {
    const Kernel *kernel;
    PyObject *list;
    Py_ssize_t at;
} ListBuilder;

static ListBuilder new_list(const Kernel *kernel, size_t size)
{
    return (ListBuilder){
        kernel, size <= PY_SSIZE_T_MAX / sizeof(PyObject *) ? PyList_New((Py_ssize_t)size) : PyErr_NoMemory(), 0};
}

static void put_ids(ListBuilder *to, const int32_t *ids, size_t count)
{
    for (size_t i = 0; to->list && i < count; i++) {
        size_t ahead = (size_t)ids[i + INTS_AHEAD < count ? i + INTS_AHEAD : i];
        if (ahead < INTS_KEPT)
            PREFETCH(to->kernel->ints[ahead]);
        PyObject *number = int_of(to->kernel, ids[i]);
        if (number)
            PyList_SetItem(to->list, to->at++, number);
        else
            Py_CLEAR(to->list);
    }
}

static void put_number(ListBuilder *to, int64_t number, size_t count)
{
    PyObject *list = to->list, *object = list && count ? int_of(to->kernel, number) : NULL;
    if (count && !object)
        Py_CLEAR(to->list);
    for (size_t i = 0; object && i < count; i++)
        PyList_SetItem(list, to->at + (Py_ssize_t)i, Py_NewRef(object));
    to->at += (Py_ssize_t)count;
    Py_XDECREF(object);
}

static void put_items(ListBuilder *to, PyObject *from)
{
    Py_ssize_t count = from && to->list ? PyList_Size(from) : 0;
    for (Py_ssize_t i = 0; i < count; i++)
        PyList_SetItem(to->list, to->at++, Py_NewRef(PyList_GetItem(from, i)));
}

/* ---- one text ---------------------------------------------------------------------------------------------------- */

/* Encode a text, or find its steps. FAILED sets an exception. */
static Status encode_one(Worker *worker, Text text, int has_steps)
{
    uint8_t *copy = has_steps ? padded_copy(text.bytes, text.size, worker->text, TEXT_AT_HAND) : NULL;
    Status status = has_steps && !copy ? FAILED : OK;
    worker->released = NULL;
    if (text.size > LONG_TEXT)
        release_gil(worker);
    if (status == OK)
        status = has_steps ? encode_steps(worker, copy, text.size) : encode_text(worker, text);
    restore_gil(worker);
    if (copy != worker->text)
        xfree(copy);
    if (status == FAILED && !PyErr_Occurred())
        PyErr_NoMemory();
    return status;
}

/* ids(text, front, back): see `kernel_methods`. */
PyObject *kernel_ids(Kernel *kernel, PyObject *const *arguments, Py_ssize_t count)
{
    Text text;
    if (count != 1 && (count != 3 || !PyList_Check(arguments[1]) || !PyList_Check(arguments[2]))) {
        PyErr_SetString(PyExc_TypeError, "ids takes a text, and two lists of ids or none");
        return NULL;
    }
    PyObject *front = count == 3 ? arguments[1] : NULL, *back = count == 3 ? arguments[2] : NULL;
    Worker *worker = text_of(arguments[0], &text) ? NULL : worker_take(kernel);
    if (!worker)
        return NULL;
    ListBuilder ids = {kernel, NULL, 0};
    if (encode_one(worker, text, 0) == OK) {
        size_t around = front ? (size_t)PyList_Size(front) + (size_t)PyList_Size(back) : 0;
        ids = new_list(kernel, worker->count + around);
        put_items(&ids, front);
        put_ids(&ids, worker->ids, worker->count);
        put_items(&ids, back);
    }
    worker_return(worker);
    return ids.list;
}

/* Turn steps into spans. */
static PyObject *spans_of(const Kernel *kernel, const int32_t *steps, size_t count)
{
    PyObject *spans = PyList_New((Py_ssize_t)count / 2);
    long long at = -1; /* as if a space preceded the text */
    for (size_t i = 0; spans && i + 1 < count; i += 2) {
        long long start = at + steps[i];
        at = start + steps[i + 1];
        PyObject *first = int_of(kernel, start), *second = int_of(kernel, at);
        PyObject *pair = first && second ? PyTuple_Pack(2, first, second) : NULL;
        Py_XDECREF(first);
        Py_XDECREF(second);
        if (!pair || PyList_SetItem(spans, (Py_ssize_t)i / 2, pair))
            Py_CLEAR(spans);
    }
    return spans;
}

PyObject *kernel_spans(Kernel *kernel, PyObject *object)
{
    Text text;
    if (text_of(object, &text))
        return NULL;
    if (!text.bytes)
        return Py_NewRef(Py_None);
    Worker *worker = worker_take(kernel);
    if (!worker)
        return NULL;
    Status status = encode_one(worker, text, 1);
    PyObject *spans = status == OK ? spans_of(kernel, worker->ids, worker->count) : NULL;
    worker_return(worker);
    return status == WHOLE_TEXT ? Py_NewRef(Py_None) : spans;
}

/* ---- threads that help ------------------------------------------------------------------------------------------- */

enum { MICROSECONDS_BETWEEN_CHECKS = 50000, CLOSED = 1 << 20 };

/* Helpers are Python's threads, because only Python can create and delete their states without a risk for forks. A crew
   belongs to a capsule, which its threads share. */
typedef struct {
    void (*work)(void *task, size_t thread, PyThreadState *released);
    void *task;
    size_t helpers;
    long long forks;
    Shared begun;
    Shared working;           /* threads, with the one that is helped; less CLOSED once no more may begin */
    PyThread_type_lock ended; /* released by the last thread that ends */
} Crew;

/* The crew of a capsule; NULL without one. */
static Crew *crew_of(PyObject *capsule) { return capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL; }

static void crew_free(PyObject *capsule)
{
    Crew *crew = crew_of(capsule);
    PyThread_free_lock(crew->ended);
    xfree(crew);
}

/* What a helper does, unless it begins too late. */
static PyObject *help(PyObject *capsule, PyObject *Py_UNUSED(ignored))
{
    Crew *crew = crew_of(capsule);
    PyThreadState *released = PyEval_SaveThread();
    if (shared_add(&crew->working, 1) >= 0)
        crew->work(crew->task, 1 + (size_t)shared_add(&crew->begun, 1), released);
    if (shared_add(&crew->working, -1) == 1 - CLOSED)
        PyThread_release_lock(crew->ended);
    PyEval_RestoreThread(released);
    Py_RETURN_NONE;
}

static PyMethodDef help_method = {"help", help, METH_NOARGS, NULL};

/* Create the capsule of a crew; NULL without memory. */
static PyObject *crew_new(void (*work)(void *, size_t, PyThreadState *), void *task)
{
    Crew *crew = xcalloc(1, sizeof *crew);
    if (!crew)
        return NULL;
    crew->work = work;
    crew->task = task;
    crew->forks = shared_get(&forks);
    shared_add(&crew->working, 1);
    crew->ended = PyThread_allocate_lock();
    PyObject *capsule = crew->ended ? PyCapsule_New(crew, NULL, crew_free) : NULL;
    if (capsule) {
        PyThread_acquire_lock(crew->ended, NOWAIT_LOCK);
        return capsule;
    }
    if (crew->ended)
        PyThread_free_lock(crew->ended);
    xfree(crew);
    return NULL;
}

/* Start helpers, as many as the system allows. Their numbers are 1, 2, ...; the number of the calling thread, which
   must hold the GIL, is 0. Return a capsule, or NULL without helpers. */
static PyObject *crew_start(size_t wanted, void (*work)(void *, size_t, PyThreadState *), void *task)
{
    PyObject *capsule = wanted ? crew_new(work, task) : NULL;
    Crew *crew = crew_of(capsule);
    PyObject *threads = crew ? PyImport_ImportModule("_thread") : NULL;
    PyObject *helper = threads ? PyCFunction_New(&help_method, capsule) : NULL;
    while (helper && crew->helpers < wanted) {
        PyObject *started = PyObject_CallMethod(threads, "start_new_thread", "O()", helper);
        Py_XDECREF(started);
        if (!started)
            break;
        crew->helpers++;
    }
    PyErr_Clear(); /* fewer helpers do as well */
    Py_XDECREF(threads);
    Py_XDECREF(helper);
    if (crew && !crew->helpers)
        Py_CLEAR(capsule);
    return capsule;
}

/* Whether the process was forked while a crew was working. The child has only one of the threads. */
static int is_lost(const Crew *crew) { return crew->forks != shared_get(&forks); }

/* Wait without the GIL until all helpers that have begun have ended. Check for signals, if there is a worker. Return
   whether the process has lost the helpers. */
static int crew_end(Crew *crew, Worker *worker, Shared *failed)
{
    int has_ended = shared_add(&crew->working, -CLOSED - 1) == 1 || is_lost(crew);
    while (!has_ended) {
        PyThread_acquire_lock_timed(crew->ended, MICROSECONDS_BETWEEN_CHECKS, 1);
        has_ended = shared_get(&crew->working) == -CLOSED;
        if (worker && !has_ended && !shared_get(failed) && check_signals(worker))
            shared_add(failed, 1);
        has_ended |= is_lost(crew); /* a signal handler may fork */
    }
    return is_lost(crew);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* Where the ids of a text are. */
typedef struct {
    size_t start, length;
    uint32_t by; /* the number of the worker plus one; 0 if nobody has encoded the text */
} Row;

typedef struct {
    PyObject *crew; /* a capsule, or NULL */
    Kernel *kernel;
    PyObject *owner; /* keeps the texts alive */
    Py_buffer data, offsets;
    Text *texts;
    Row *rows;
    Py_ssize_t count, rows_at_once;
    size_t size; /* of all texts */
    size_t room; /* number of ids that are needed of each text */
    Worker *workers[MOST_THREADS];
    size_t worker_count;
    PyObject *error[3]; /* of a helper thread */
    Shared next;        /* the first row that no thread has claimed */
    Shared failed, not_utf8;
} Batch;

static void batch_free(Batch *batch)
{
    for (size_t i = batch->worker_count; i--;)
        worker_return(batch->workers[i]);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(batch->error[i]);
    if (batch->data.obj)
        PyBuffer_Release(&batch->data);
    if (batch->offsets.obj)
        PyBuffer_Release(&batch->offsets);
    Py_XDECREF(batch->crew);
    Py_XDECREF(batch->owner);
    Py_XDECREF((PyObject *)batch->kernel);
    xfree(batch->texts);
    xfree(batch->rows);
    xfree(batch);
}

/* Create a batch. Return NULL with an exception. */
static Batch *batch_new(Kernel *kernel, Py_ssize_t count)
{
    Batch *batch = xcalloc(1, sizeof *batch);
    if (!batch)
        return (Batch *)PyErr_NoMemory();
    batch->kernel = (Kernel *)Py_NewRef((PyObject *)kernel);
    batch->count = count;
    batch->texts = xcalloc((size_t)count, sizeof *batch->texts);
    batch->rows = xcalloc((size_t)count, sizeof *batch->rows);
    if (batch->texts && batch->rows)
        return batch;
    batch_free(batch);
    return (Batch *)PyErr_NoMemory();
}

/* Create a batch for a tuple of texts. Return NULL for an error; also, without an exception, if all must be str and one
   is not. */
static Batch *batch_of(Kernel *kernel, PyObject *texts, int all_str)
{
    Batch *batch = batch_new(kernel, PyTuple_Size(texts));
    if (!batch)
        return NULL;
    batch->owner = Py_NewRef(texts);
    for (Py_ssize_t i = 0; i < batch->count; i++) {
        PyObject *text = PyTuple_GetItem(texts, i);
        if ((all_str && !PyUnicode_CheckExact(text)) || text_of(text, &batch->texts[i])) {
            batch_free(batch);
            return NULL;
        }
        batch->size += batch->texts[i].size;
    }
    return batch;
}

/* The length of the UTF-8 character at `at`, or 0 if it is invalid (Unicode Standard, table 3-7). */
static inline size_t checked_length(const uint8_t *at, size_t left)
{
    uint8_t first = at[0];
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length < 2 || length > left)
        return length == 1;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    uint32_t code_point = code_point_at(at, &at);
    int is_surrogate = code_point >= 0xd800 && code_point < 0xe000;
    uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
    return code_point < least || is_surrogate || code_point > 0x10ffff ? 0 : length;
}

static int is_utf8(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        if (size - at >= 8 && !(read_bytes(bytes + at, 8) & 0x8080808080808080u)) {
            at += 8;
            continue;
        }
        size_t length = checked_length(bytes + at, size - at);
        if (!length)
            return 0;
        at += length;
    }
    return 1;
}

/* Encode one text of a batch, unless this worker has encoded it already: the child of a fork encodes them again. */
static Status encode_row(Batch *batch, size_t thread, Py_ssize_t number)
{
    Worker *worker = batch->workers[thread];
    Row *row = &batch->rows[number];
    Text text = batch->texts[number];
    size_t start = worker->count;
    if (row->by == thread + 1)
        return OK;
    worker->enough = batch->room < SIZE_MAX - start ? start + batch->room : SIZE_MAX;
    if (!text.object && !is_utf8(text.bytes, text.size)) {
        shared_add(&batch->not_utf8, 1);
        return FAILED;
    }
    if (encode_text(worker, text))
        return FAILED;
    *row = (Row){start, worker->count - start, (uint32_t)thread + 1};
    worker->read += text.size;
    if (worker->read <= CHECKPOINT_BYTES)
        return OK;
    worker->read = 0;
    return check_signals(worker) ? FAILED : OK;
}

/* Encode the texts from `first` to `stop`. */
static void encode_rows(Batch *batch, size_t thread, Py_ssize_t first, Py_ssize_t stop)
{
    enum { TEXT_AHEAD = 512, CACHE_LINE = 64 }; /* how much of the next text is prefetched */
    for (Py_ssize_t i = first; i < stop && !shared_get(&batch->failed); i++) {
        const Text *next = &batch->texts[i + 1 < stop ? i + 1 : i];
        for (size_t ahead = 0; ahead < TEXT_AHEAD && ahead < next->size; ahead += CACHE_LINE)
            PREFETCH(next->bytes + ahead);
        if (encode_row(batch, thread, i))
            shared_add(&batch->failed, 1);
    }
}

/* Claim and encode texts until all are claimed. */
static void encode_share(void *task, size_t thread, PyThreadState *released)
{
    Batch *batch = task;
    batch->workers[thread]->released = released;
    for (Py_ssize_t first; (first = (Py_ssize_t)shared_add(&batch->next, batch->rows_at_once)) < batch->count;) {
        Py_ssize_t left = batch->count - first;
        encode_rows(batch, thread, first, first + (left < batch->rows_at_once ? left : batch->rows_at_once));
    }
}

/* The number of threads for a batch: as many as Python allows, if there is enough text. Return 0 for an error. */
static size_t threads_for(const Batch *batch, PyObject *allowed)
{
    enum { BYTES_A_THREAD = 1 << 17 };
    size_t most =
        batch->size / BYTES_A_THREAD < (size_t)batch->count ? batch->size / BYTES_A_THREAD : (size_t)batch->count;
    if (!allowed || allowed == Py_None || most < 2)
        return 1;
    PyObject *answer = PyObject_CallNoArgs(allowed);
    long long number = answer ? PyLong_AsLongLong(answer) : 0;
    Py_XDECREF(answer);
    if (PyErr_Occurred())
        return 0;
    number -= batch->kernel->helping;
    most = most < MOST_THREADS ? most : MOST_THREADS;
    return number < 1 ? 1 : (size_t)number < most ? (size_t)number : most;
}

/* Take a worker for each thread. Their buffers are enlarged here: memory that a helper allocates goes back to the
   system when the helper ends. Return -1 for an error. */
static int take_workers(Batch *batch, size_t threads)
{
    enum { BYTES_AN_ID = 3, MOST_AT_FIRST = 1 << 20 };
    size_t ids = batch->size / threads / BYTES_AN_ID;
    for (size_t i = 0; i < threads; i++) {
        Worker *worker = batch->workers[i] = worker_take(batch->kernel);
        if (!worker)
            return -1;
        batch->worker_count++;
        worker->released = NULL;
        worker->helps = i > 0;
        worker->error = batch->error;
        worker->stop = &batch->failed;
        if (reserve_ids(worker, ids < MOST_AT_FIRST ? ids : MOST_AT_FIRST)) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

/* Encode all texts of a batch, at least `room` ids of each. Return 0; 1 if one is not valid UTF-8; -1 for an error. */
static int batch_encode(Batch *batch, PyObject *allowed, size_t room)
{
    enum { PARTS_A_THREAD = 16 };
    size_t threads = threads_for(batch, allowed);
    if (!threads || take_workers(batch, threads))
        return -1;
    Worker *own = batch->workers[0];
    batch->room = room;
    batch->rows_at_once = 1 + batch->count / (Py_ssize_t)(threads * PARTS_A_THREAD);
    batch->crew = crew_start(threads - 1, encode_share, batch);
    Crew *crew = crew_of(batch->crew);
    const long long helpers = crew ? (long long)crew->helpers : 0;
    batch->kernel->helped += helpers;
    batch->kernel->helping += helpers;
    if (batch->size > LONG_TEXT)
        release_gil(own);
    encode_share(batch, 0, own->released);
    if (crew && crew_end(crew, own, &batch->failed)) {
        batch->worker_count = 1; /* the helpers do not exist any more */
        encode_rows(batch, 0, 0, batch->count);
    }
    restore_gil(own);
    if (!is_stale(own))
        batch->kernel->helping -= helpers;
    if (!shared_get(&batch->failed))
        return 0;
    if (!PyErr_Occurred() && batch->error[0]) {
        PyErr_Restore(batch->error[0], batch->error[1], batch->error[2]);
        memset(batch->error, 0, sizeof batch->error);
    }
    if (PyErr_Occurred())
        return -1;
    return shared_get(&batch->not_utf8) ? 1 : (PyErr_NoMemory(), -1);
}

static const int32_t *row_ids(const Batch *batch, Py_ssize_t row)
{
    return batch->workers[batch->rows[row].by - 1]->ids + batch->rows[row].start;
}

/* Truncate each row to `room` ids, unless `room` is negative. */
static void cut_rows(Batch *batch, int64_t room, int from_left)
{
    for (Py_ssize_t i = 0; room >= 0 && i < batch->count; i++) {
        Row *row = &batch->rows[i];
        if (row->length <= (size_t)room)
            continue;
        if (from_left)
            row->start += row->length - (size_t)room;
        row->length = (size_t)room;
    }
}

/* ---- ids in one run of bytes ------------------------------------------------------------------------------------- */

/* How `flat` truncates rows, and the int32 that it puts around each. */
typedef struct {
    Py_ssize_t room;
    int from_left;
    const char *front, *back;
    Py_ssize_t front_size, back_size;
} Flat;

static void fill_flat(const Batch *batch, const Flat *flat, int32_t *lengths, char *to)
{
    const size_t front = (size_t)flat->front_size, back = (size_t)flat->back_size;
    for (Py_ssize_t i = 0; i < batch->count; i++) {
        size_t size = batch->rows[i].length * sizeof(int32_t);
        memcpy(to, flat->front, front);
        memcpy(to + front, row_ids(batch, i), size);
        memcpy(to + front + size, flat->back, back);
        lengths[i] = (int32_t)((front + size + back) / sizeof(int32_t));
        to += front + size + back;
    }
}

/* The lengths and ids of a batch, or None if a text is not valid UTF-8. Frees the batch. */
static PyObject *flat_of(Batch *batch, PyObject *allowed, const Flat *flat)
{
    size_t size = 0, around = (size_t)flat->front_size + (size_t)flat->back_size;
    size_t room = flat->room >= 0 && !flat->from_left ? (size_t)flat->room : SIZE_MAX;
    PyObject *made = NULL, *lengths = NULL, *ids = NULL;
    int result = batch_encode(batch, allowed, room);
    if (!result) {
        cut_rows(batch, flat->room, flat->from_left);
        for (Py_ssize_t i = 0; i < batch->count; i++) {
            size += batch->rows[i].length * sizeof(int32_t) + around;
            result |= batch->rows[i].length > INT32_MAX - around;
        }
        if (result || size > (size_t)PY_SSIZE_T_MAX) {
            PyErr_SetString(PyExc_OverflowError, "a row has more ids than int32 can count");
        } else if ((lengths = PyByteArray_FromStringAndSize(NULL, batch->count * (Py_ssize_t)sizeof(int32_t)))
                   && (ids = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size))) {
            fill_flat(batch, flat, (int32_t *)(void *)PyByteArray_AsString(lengths), PyByteArray_AsString(ids));
            made = PyTuple_Pack(2, lengths, ids);
        }
    } else if (result > 0) {
        made = Py_NewRef(Py_None);
    }
    Py_XDECREF(lengths);
    Py_XDECREF(ids);
    batch_free(batch);
    return made;
}

PyObject *kernel_flat(Kernel *kernel, PyObject *arguments)
{
    PyObject *sequence, *allowed;
    Flat flat;
    if (!PyArg_ParseTuple(arguments, "OOnpy#y#", &sequence, &allowed, &flat.room, &flat.from_left, &flat.front,
            &flat.front_size, &flat.back, &flat.back_size))
        return NULL;
    PyObject *texts = PySequence_Tuple(sequence);
    Batch *batch = texts ? batch_of(kernel, texts, 0) : NULL;
    Py_XDECREF(texts);
    return batch ? flat_of(batch, allowed, &flat) : NULL;
}

/* Find the texts between offsets. Return whether all of them are inside the data. */
static int find_texts(Batch *batch, Py_ssize_t first)
{
    const uint8_t *offsets = (const uint8_t *)batch->offsets.buf + 8 * first;
    if (batch->offsets.len / 8 <= first + batch->count)
        return 0;
    for (Py_ssize_t i = 0; i < batch->count; i++) {
        int64_t bounds[2];
        memcpy(bounds, offsets + 8 * i, sizeof bounds); /* they may not be aligned */
        if (bounds[0] < 0 || bounds[1] < bounds[0] || bounds[1] > batch->data.len)
            return 0;
        size_t size = (size_t)(bounds[1] - bounds[0]);
        batch->texts[i] = (Text){NULL, (const uint8_t *)batch->data.buf + bounds[0], size};
        batch->size += size;
    }
    return 1;
}

PyObject *kernel_flat_between(Kernel *kernel, PyObject *arguments)
{
    Py_buffer data, offsets;
    Py_ssize_t first, count;
    PyObject *allowed;
    Flat flat;
    if (!PyArg_ParseTuple(arguments, "y*y*nnOnpy#y#", &data, &offsets, &first, &count, &allowed, &flat.room,
            &flat.from_left, &flat.front, &flat.front_size, &flat.back, &flat.back_size))
        return NULL;
    int is_within = first >= 0 && count >= 0 && first < PY_SSIZE_T_MAX - count;
    Batch *batch = is_within ? batch_new(kernel, count) : NULL;
    if (!batch) {
        PyBuffer_Release(&data);
        PyBuffer_Release(&offsets);
        if (is_within)
            return NULL;
    } else {
        batch->data = data;
        batch->offsets = offsets;
        if (find_texts(batch, first))
            return flat_of(batch, allowed, &flat);
        batch_free(batch);
    }
    PyErr_SetString(PyExc_ValueError, "the offsets are not within the data, or there are fewer");
    return NULL;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum { MOST_TEXTS = 2, MOST_COLUMNS = 8, IDS_OF_TEXT = -1 };
enum { NOT_PADDED = -1, TO_LONGEST = -2 }; /* special values of a width */

/* The packed numbers of `Form` in forms.py. Each column adds: the number for padding, for the tokens of each text (or
   IDS_OF_TEXT), and for each special token. */
typedef struct {
    int64_t texts;                    /* in a row */
    int64_t specials[MOST_TEXTS + 1]; /* number of special tokens before the first text and after each text */
    int64_t room;                     /* number of ids of texts in a row; -1 for no limit */
    int64_t cuts_left;
    int64_t width;
    int64_t multiple; /* widths are rounded up to a multiple of it */
    int64_t pads_left;
    int64_t one; /* whether there is only one row, which is returned by itself */
} Form;

typedef struct {
    const Batch *batch;
    PyObject *names, *make, *dtype; /* see `Form` in forms.py */
    Form form;
    const int64_t *columns;
    size_t column_size, column_count, around;
    size_t shortest, longest, filled; /* ids of a row; the width that rows are padded to */
    size_t width;
    Py_ssize_t count;              /* of rows */
    int64_t *arrays[MOST_COLUMNS]; /* NULL for an array that is already filled */
    Shared next;                   /* the first row that no thread has claimed */
} Columns;

/* Read the numbers of a form. Return whether they are valid. */
static int read_numbers(Columns *columns, PyObject *bytes)
{
    Form *form = &columns->form;
    const size_t head = sizeof *form / 8, count = (size_t)PyBytes_Size(bytes) / 8;
    if (PyBytes_Size(bytes) % 8 || count < head)
        return 0;
    memcpy(form, PyBytes_AsString(bytes), sizeof *form);
    columns->columns = (const int64_t *)(const void *)PyBytes_AsString(bytes) + head;
    if ((form->texts != 1 && form->texts != MOST_TEXTS) || form->multiple <= 0 || form->width < TO_LONGEST)
        return 0;
    for (int64_t i = 0; i <= form->texts; i++) {
        if (form->specials[i] < 0 || form->specials[i] > (int64_t)count)
            return 0;
        columns->around += (size_t)form->specials[i];
    }
    columns->column_size = 1 + (size_t)form->texts + columns->around;
    return count - head == columns->column_size * columns->column_count;
}

/* Read a form. Return -1 if it is invalid. */
static int read_form(Columns *columns, PyObject *form)
{
    PyObject *parts[4] = {NULL};
    for (Py_ssize_t i = 0; i < 4 && PyTuple_Check(form) && PyTuple_Size(form) == 4; i++)
        parts[i] = PyTuple_GetItem(form, i);
    if (!parts[0] || !PyBytes_Check(parts[0]) || !PyTuple_Check(parts[1])
        || (parts[2] != Py_None && !PyTuple_Check(parts[2]))) {
        PyErr_SetString(PyExc_TypeError, "a form is a tuple of numbers, names, what makes arrays, and a dtype");
        return -1;
    }
    columns->names = parts[1], columns->make = parts[2], columns->dtype = parts[3];
    columns->column_count = (size_t)PyTuple_Size(parts[1]);
    if (columns->column_count && columns->column_count <= MOST_COLUMNS && read_numbers(columns, parts[0]))
        return 0;
    PyErr_SetString(PyExc_ValueError, "the numbers are no form of these columns");
    return -1;
}

static size_t length_of(const Columns *columns, Py_ssize_t row)
{
    const Row *rows = columns->batch->rows + row * columns->form.texts;
    return rows[0].length + (columns->form.texts == MOST_TEXTS ? rows[1].length : 0);
}

/* Compute the width of the columns. Return whether this file can create them: not if a pair must be truncated, or if
   arrays would have rows of different widths. */
static int measure(Columns *columns)
{
    const Form *form = &columns->form;
    columns->count = columns->batch->count / form->texts;
    columns->shortest = SIZE_MAX;
    for (Py_ssize_t row = 0; row < columns->count; row++) {
        size_t length = length_of(columns, row) + columns->around;
        columns->shortest = length < columns->shortest ? length : columns->shortest;
        columns->longest = length > columns->longest ? length : columns->longest;
    }
    size_t multiple = (size_t)form->multiple;
    columns->filled = form->width == NOT_PADDED   ? 0
                      : form->width == TO_LONGEST ? (columns->longest + multiple - 1) / multiple * multiple
                                                  : (size_t)form->width;
    columns->width = columns->longest > columns->filled ? columns->longest : columns->filled;
    size_t least = columns->shortest > columns->filled ? columns->shortest : columns->filled;
    if (form->room >= 0 && columns->longest - columns->around > (size_t)form->room)
        return 0;
    return columns->make == Py_None || (columns->width == least && columns->width);
}

/* ---- columns: arrays --------------------------------------------------------------------------------------------- */

static int64_t *fill_with(int64_t *to, size_t count, int64_t number)
{
    for (size_t i = 0; i < count; i++)
        *to++ = number;
    return to;
}

static void fill_row(const Columns *columns, const int64_t *column, int64_t *to, Py_ssize_t row)
{
    const int64_t texts = columns->form.texts, *special = column + 1 + texts;
    size_t missing = columns->width - columns->around - length_of(columns, row);
    if (columns->form.pads_left)
        to = fill_with(to, missing, column[0]);
    for (int64_t text = 0; text <= texts; text++) {
        for (int64_t i = 0; i < columns->form.specials[text]; i++)
            *to++ = *special++;
        if (text == texts)
            break;
        const int32_t *ids = row_ids(columns->batch, row * texts + text);
        size_t length = columns->batch->rows[row * texts + text].length;
        if (column[1 + text] != IDS_OF_TEXT)
            to = fill_with(to, length, column[1 + text]);
        else
            for (size_t i = 0; i < length; i++)
                *to++ = ids[i];
    }
    if (!columns->form.pads_left)
        fill_with(to, missing, column[0]);
}

static void fill_rows(void *task, size_t Py_UNUSED(thread), PyThreadState *Py_UNUSED(released))
{
    enum { ROWS_AT_ONCE = 16 };
    Columns *columns = task;
    for (Py_ssize_t first; (first = (Py_ssize_t)shared_add(&columns->next, ROWS_AT_ONCE)) < columns->count;) {
        Py_ssize_t stop = columns->count - first < ROWS_AT_ONCE ? columns->count : first + ROWS_AT_ONCE;
        for (size_t i = 0; i < columns->column_count; i++)
            for (Py_ssize_t row = first; columns->arrays[i] && row < stop; row++)
                fill_row(columns, columns->columns + i * columns->column_size,
                    columns->arrays[i] + (size_t)row * columns->width, row);
    }
}

/* Fill all arrays, without the GIL if there is much to do: nobody else has them yet. The columns may be on the stack,
   because the thread does not ask for the GIL before all helpers have ended. */
static void fill_arrays(Columns *columns, size_t bytes)
{
    enum { BYTES_A_THREAD = 1 << 20 };
    const Crew *encoders = crew_of(columns->batch->crew);
    size_t helpers = bytes / BYTES_A_THREAD, most = encoders ? encoders->helpers : 0;
    PyObject *capsule = crew_start(helpers < most ? helpers : most, fill_rows, columns);
    Crew *crew = crew_of(capsule);
    PyThreadState *released = bytes > LONG_TEXT ? PyEval_SaveThread() : NULL;
    fill_rows(columns, 0, NULL);
    if (crew)
        crew_end(crew, NULL, NULL);
    if (released)
        PyEval_RestoreThread(released);
    Py_XDECREF(capsule);
}

static int is_zero(const int64_t *column, size_t size)
{
    int64_t any = 0;
    for (size_t i = 0; i < size; i++)
        any |= column[i];
    return !any;
}

/* Call one of the two functions that create arrays, with a shape and a dtype. */
static PyObject *call_maker(const Columns *columns, int zeros)
{
    PyObject *arguments = Py_BuildValue("((nn)O)", columns->count, (Py_ssize_t)columns->width, columns->dtype);
    PyObject *array = arguments ? PyObject_Call(PyTuple_GetItem(columns->make, zeros), arguments, NULL) : NULL;
    Py_XDECREF(arguments);
    return array;
}

/* Create an array of `size` bytes, and find its memory, unless it is already zeroed. It is a bytearray if there are no
   functions. */
static PyObject *new_array(const Columns *columns, size_t size, int zeros, int64_t **numbers)
{
    Py_buffer view;
    if (PyTuple_Size(columns->make) != 2) {
        PyObject *array = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
        *numbers = array ? (int64_t *)(void *)PyByteArray_AsString(array) : NULL;
        return array;
    }
    PyObject *array = call_maker(columns, zeros);
    if (!array || zeros)
        return array;
    if (!PyObject_GetBuffer(array, &view, PyBUF_WRITABLE)) {
        *numbers = (size_t)view.len == size ? view.buf : NULL; /* valid as long as the array exists */
        PyBuffer_Release(&view);
    }
    if (*numbers)
        return array;
    Py_DECREF(array);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

/* Add the columns to a dict, as arrays of int64 with shape (rows, width). */
static int put_arrays(Columns *columns, PyObject *dict)
{
    if (columns->width > PY_SSIZE_T_MAX / 8 / (size_t)columns->count)
        return PyErr_NoMemory(), -1;
    size_t size = (size_t)columns->count * columns->width * 8;
    for (size_t i = 0; i < columns->column_count; i++) {
        int zeros = is_zero(columns->columns + i * columns->column_size, columns->column_size);
        PyObject *array = new_array(columns, size, zeros, &columns->arrays[i]);
        int failed = !array || PyDict_SetItem(dict, PyTuple_GetItem(columns->names, (Py_ssize_t)i), array);
        Py_XDECREF(array);
        if (!failed && PyDict_Size(dict) != (Py_ssize_t)i + 1) {
            PyErr_SetString(PyExc_ValueError, "two columns have the same name");
            failed = 1;
        }
        if (failed)
            return -1;
    }
    fill_arrays(columns, size * columns->column_count);
    return 0;
}

/* ---- columns: lists ---------------------------------------------------------------------------------------------- */

/* A row as a list, padded to `filled`. */
static PyObject *list_of_row(const Columns *columns, const int64_t *column, Py_ssize_t row)
{
    const Batch *batch = columns->batch;
    const int64_t texts = columns->form.texts, *special = column + 1 + texts;
    size_t length = columns->around + length_of(columns, row);
    size_t missing = columns->filled > length ? columns->filled - length : 0;
    ListBuilder list = new_list(batch->kernel, length + missing);
    if (columns->form.pads_left)
        put_number(&list, column[0], missing);
    for (int64_t text = 0; text <= texts; text++) {
        for (int64_t i = 0; i < columns->form.specials[text]; i++)
            put_number(&list, *special++, 1);
        if (text == texts)
            break;
        const Py_ssize_t of_text = row * texts + text;
        if (column[1 + text] != IDS_OF_TEXT)
            put_number(&list, column[1 + text], batch->rows[of_text].length);
        else
            put_ids(&list, row_ids(batch, of_text), batch->rows[of_text].length);
    }
    if (!columns->form.pads_left)
        put_number(&list, column[0], missing);
    return list.list;
}

/* Add the columns to a dict, as lists of lists. */
static int put_lists(const Columns *columns, PyObject *dict)
{
    for (size_t i = 0; i < columns->column_count; i++) {
        const int64_t *column = columns->columns + i * columns->column_size;
        PyObject *lists = columns->form.one ? list_of_row(columns, column, 0) : PyList_New(columns->count);
        for (Py_ssize_t row = 0; lists && row < columns->count && !columns->form.one; row++) {
            PyObject *list = list_of_row(columns, column, row);
            if (list)
                PyList_SetItem(lists, row, list);
            else
                Py_CLEAR(lists);
        }
        int failed = !lists || PyDict_SetItem(dict, PyTuple_GetItem(columns->names, (Py_ssize_t)i), lists);
        Py_XDECREF(lists);
        if (failed)
            return -1;
    }
    return 0;
}

/* columns(texts, form, threads): see `kernel_methods`. */
PyObject *kernel_columns(Kernel *kernel, PyObject *const *arguments, Py_ssize_t argument_count)
{
    Columns columns = {0};
    if (argument_count != 3 || !PyTuple_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "columns takes a tuple of texts, a form, and threads");
        return NULL;
    }
    if (read_form(&columns, arguments[1]))
        return NULL;
    const Form *form = &columns.form;
    Py_ssize_t count = PyTuple_Size(arguments[0]);
    size_t room = form->texts == 1 && form->room >= 0 && !form->cuts_left ? (size_t)form->room : SIZE_MAX;
    Batch *batch = count && !(count % form->texts) ? batch_of(kernel, arguments[0], 1) : NULL;
    if (!batch)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    PyObject *made = NULL, *dict = NULL;
    columns.batch = batch;
    if (!batch_encode(batch, arguments[2], room)) {
        if (form->texts == 1)
            cut_rows(batch, form->room, form->cuts_left != 0);
        if (!measure(&columns))
            made = Py_NewRef(Py_None);
        else if ((dict = PyDict_New())
                 && !(columns.make == Py_None ? put_lists(&columns, dict) : put_arrays(&columns, dict)))
            made = Py_BuildValue("(On)", dict, (Py_ssize_t)columns.width);
    }
    Py_XDECREF(dict);
    batch_free(batch);
    return made;
}
