/* What Python gets for many texts: the ids of each, a row.

   In: str objects, or a buffer of UTF-8. Out: `Rows`, which give lists, or numbers in one buffer. `_kernel_crew.h` has
   the threads that share the work where there is much of it. */
#ifndef TRIETOK_KERNEL_ROWS_H
#define TRIETOK_KERNEL_ROWS_H

#include "_kernel_crew.h"
#include "_kernel_results.h"

typedef struct {
    size_t start, length; /* in the ids of the thread that has worked it out */
    uint32_t thread;
    _Atomic uint8_t state;
} Row;

enum { OPEN, DONE_HERE, DONE_BY_HELPER }; /* states of a row, seen from the thread that is helped */

typedef struct {
    PyObject_HEAD
    Kernel *kernel;
    int32_t *ids[MOST_THREADS]; /* of each thread */
    size_t threads;
    Row *rows;
    Py_ssize_t count;
} Rows;

static PyTypeObject *type_of_rows(PyObject *kernel);

static void Rows_dealloc(Rows *rows)
{
    PyTypeObject *type = Py_TYPE((PyObject *)rows);
    Py_XDECREF((PyObject *)rows->kernel);
    for (size_t thread = 0; thread < rows->threads; thread++)
        give_back(rows->ids[thread]);
    give_back(rows->rows);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(rows);
    Py_DECREF(type);
}

static const int32_t *row_ids(const Rows *rows, Py_ssize_t row)
{
    return rows->ids[rows->rows[row].thread] + rows->rows[row].start;
}

static size_t row_length(const Rows *rows, Py_ssize_t row) { return rows->rows[row].length; }

static PyObject *Rows_extremes(Rows *rows, PyObject *Py_UNUSED(ignored))
{
    size_t shortest = rows->count ? row_length(rows, 0) : 0, longest = shortest;
    for (Py_ssize_t row = 1; row < rows->count; row++) {
        size_t length = row_length(rows, row);
        shortest = length < shortest ? length : shortest;
        longest = length > longest ? length : longest;
    }
    return Py_BuildValue("nn", (Py_ssize_t)shortest, (Py_ssize_t)longest);
}

static PyObject *Rows_int32_lengths(Rows *rows, PyObject *arguments)
{
    Py_ssize_t around;
    if (!PyArg_ParseTuple(arguments, "n", &around))
        return NULL;
    PyObject *array = PyByteArray_FromStringAndSize(NULL, rows->count * (Py_ssize_t)sizeof(int32_t));
    if (!array)
        return NULL;
    int32_t *lengths = (int32_t *)(void *)PyByteArray_AsString(array);
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        size_t length = row_length(rows, row);
        if (around < 0 || around > INT32_MAX || length > (size_t)(INT32_MAX - around)) {
            Py_DECREF(array);
            PyErr_SetString(PyExc_OverflowError, "a row has more ids than int32 can count");
            return NULL;
        }
        lengths[row] = (int32_t)length + (int32_t)around;
    }
    return array;
}

static PyObject *Rows_cut(Rows *rows, PyObject *arguments)
{
    Py_ssize_t room;
    int from_left;
    if (!PyArg_ParseTuple(arguments, "np", &room, &from_left))
        return NULL;
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        if (room < 0 || row_length(rows, row) <= (size_t)room)
            continue;
        if (from_left)
            rows->rows[row].start += row_length(rows, row) - (size_t)room;
        rows->rows[row].length = (size_t)room;
    }
    Py_RETURN_NONE;
}

static PyObject *Rows_lists(Rows *rows, PyObject *arguments)
{
    PyObject *front, *back;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyList_Type, &front, &PyList_Type, &back))
        return NULL;
    PyObject *lists = PyList_New(rows->count);
    for (Py_ssize_t row = 0; lists && row < rows->count; row++) {
        PyObject *list = list_of(&rows->kernel->numbers, front, row_ids(rows, row), row_length(rows, row), back);
        if (list)
            PyList_SetItem(lists, row, list);
        else
            Py_CLEAR(lists);
    }
    return lists;
}

typedef struct {
    const Rows *rows;
    int64_t *numbers;
    _Atomic Py_ssize_t next; /* the first row that no thread has begun */
    size_t width;
    const char *front, *back; /* numbers */
    Py_ssize_t front_size, back_size;
    long long padding, filler; /* instead of each id, unless it is negative */
    int pads_left;
} Filling;

static int64_t *fill_with(int64_t *to, size_t count, int64_t number)
{
    for (size_t i = 0; i < count; i++)
        *to++ = number;
    return to;
}

static void fill_row(const Filling *filling, Py_ssize_t row)
{
    const int32_t *ids = row_ids(filling->rows, row);
    int64_t *to = filling->numbers + (size_t)row * filling->width;
    size_t front = (size_t)filling->front_size / 8, back = (size_t)filling->back_size / 8,
           length = row_length(filling->rows, row), missing = filling->width - length - front - back;
    if (filling->pads_left)
        to = fill_with(to, missing, filling->padding);
    memcpy(to, filling->front, front * 8);
    to += front;
    if (filling->filler >= 0)
        to = fill_with(to, length, filling->filler);
    else
        for (size_t i = 0; i < length; i++)
            *to++ = ids[i];
    memcpy(to, filling->back, back * 8);
    if (!filling->pads_left)
        fill_with(to + back, missing, filling->padding);
}

enum { BYTES_TO_FILL = 1 << 20, ROWS_AT_ONCE = 16 }; /* bytes that a thread should have to fill; rows that it claims */

static void fill_rows(void *task, size_t Py_UNUSED(thread))
{
    Filling *filling = task;
    Py_ssize_t count = filling->rows->count;
    for (Py_ssize_t row; (row = atomic_fetch_add(&filling->next, ROWS_AT_ONCE)) < count;)
        for (Py_ssize_t stop = row + ROWS_AT_ONCE; row < stop && row < count; row++)
            fill_row(filling, row);
}

static PyObject *Rows_int64(Rows *rows, PyObject *arguments)
{
    Filling filling = {.rows = rows, .filler = -1};
    Py_ssize_t width;
    if (!PyArg_ParseTuple(arguments, "ny#y#Lp|L", &width, &filling.front, &filling.front_size, &filling.back,
            &filling.back_size, &filling.padding, &filling.pads_left, &filling.filler))
        return NULL;
    filling.width = width < 0 ? 0 : (size_t)width;
    for (Py_ssize_t row = 0; row < rows->count; row++)
        if (row_length(rows, row) + (size_t)filling.front_size / 8 + (size_t)filling.back_size / 8 > filling.width) {
            PyErr_SetString(PyExc_ValueError, "a row is longer than the width");
            return NULL;
        }
    if (filling.width && rows->count > PY_SSIZE_T_MAX / 8 / (Py_ssize_t)filling.width)
        return PyErr_NoMemory();
    PyObject *array = PyByteArray_FromStringAndSize(NULL, rows->count * (Py_ssize_t)filling.width * 8);
    if (!array)
        return NULL;
    filling.numbers = (int64_t *)(void *)PyByteArray_AsString(array);
    Crew crew;
    size_t helpers = (size_t)PyByteArray_Size(array) / BYTES_TO_FILL;
    start_crew(&crew, helpers < rows->threads ? helpers : rows->threads - 1, rows->threads, fill_rows, &filling);
    PyThreadState *released = PyEval_SaveThread(); /* nobody else has the array yet */
    fill_rows(&filling, 0);
    end_crew(&crew, NULL, NULL);
    PyEval_RestoreThread(released);
    return array;
}

static PyObject *Rows_int32(Rows *rows, PyObject *arguments)
{
    const char *front, *back;
    Py_ssize_t front_size, back_size;
    if (!PyArg_ParseTuple(arguments, "y#y#", &front, &front_size, &back, &back_size))
        return NULL;
    size_t size = 0, around = (size_t)front_size + (size_t)back_size;
    for (Py_ssize_t row = 0; row < rows->count; row++)
        size += row_length(rows, row) * sizeof(int32_t) + around;
    if (size > (size_t)PY_SSIZE_T_MAX)
        return PyErr_NoMemory();
    PyObject *array = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (!array)
        return NULL;
    char *to = PyByteArray_AsString(array);
    PyThreadState *released = PyEval_SaveThread();
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        size_t length = row_length(rows, row) * sizeof(int32_t);
        memcpy(to, front, (size_t)front_size);
        memcpy(to + front_size, row_ids(rows, row), length);
        memcpy(to + (size_t)front_size + length, back, (size_t)back_size);
        to += length + around;
    }
    PyEval_RestoreThread(released);
    return array;
}

/* ---- making them ------------------------------------------------------------------------------------------------- */

static Rows *new_rows(Kernel *kernel, Py_ssize_t count, size_t threads)
{
    PyTypeObject *type = type_of_rows((PyObject *)kernel);
    Rows *rows = type ? (Rows *)PyType_GenericAlloc(type, 0) : NULL;
    if (!rows)
        return NULL;
    rows->kernel = (Kernel *)Py_NewRef((PyObject *)kernel);
    rows->count = count;
    rows->threads = threads;
    rows->rows = new_zeroed((size_t)count, sizeof *rows->rows);
    if (rows->rows)
        return rows;
    Py_DECREF((PyObject *)rows);
    PyErr_NoMemory();
    return NULL;
}

/* How many bytes the UTF-8 character at `at` has; 0 for what is none (Unicode Standard, table 3-7). */
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
        if (size - at >= 8 && !(up_to_8_bytes(bytes + at, 8) & 0x8080808080808080u)) {
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

/* A batch that threads share. Each takes some rows at a time, and has a call of its own. */
typedef struct {
    const Item *items;
    Rows *rows;
    Call *calls; /* of each thread */
    Py_ssize_t rows_at_once;
    _Atomic Py_ssize_t next; /* the first row that no thread has begun */
    _Atomic int stops;       /* an error */
    _Atomic int is_no_utf8;
} Batch;

/* How many bytes a thread should have to read; into how many parts its share is cut; how many bytes an id has, about,
   and for how many ids there is room from the beginning at most. */
enum { BYTES_A_THREAD = 1 << 17, PARTS_A_THREAD = 16, FIRST_LEFT = 8, BYTES_AN_ID = 3, IDS_AT_FIRST = 1 << 20 };

/* Put the ids of the rows from `first` to `stop` that nobody has worked out. A helper leaves what it cannot do. */
static Outcome encode_items(Batch *batch, size_t thread, Py_ssize_t first, Py_ssize_t stop)
{
    Call *call = &batch->calls[thread];
    for (Py_ssize_t i = first; i < stop && !atomic_load_explicit(&batch->stops, memory_order_relaxed); i++) {
        const Item *item = &batch->items[i];
        Row *row = &batch->rows->rows[i];
        if (atomic_load_explicit(&row->state, memory_order_relaxed) != OPEN)
            continue;
        size_t start = call->count;
        if (!item->text && !is_utf8(item->bytes, item->size)) {
            atomic_store(&batch->is_no_utf8, 1);
            return FAILURE;
        }
        if (encode_item(call, *item)) {
            if (!call->has_left)
                return FAILURE;
            call->has_left = 0;
            call->left++;
            call->count = start;
            continue;
        }
        row->start = start;
        row->length = call->count - start;
        row->thread = (uint32_t)thread;
        atomic_store_explicit(&row->state, thread ? DONE_BY_HELPER : DONE_HERE, memory_order_relaxed);
        call->read += item->size;
        if (call->read > BYTES_BETWEEN_LOOKS) {
            call->read = 0;
            if (look_for_signals(call))
                return FAILURE;
        }
    }
    return DONE;
}

/* Take rows as long as there are any; a helper that leaves most of them helps nobody. */
static void encode_share(void *task, size_t thread)
{
    Batch *batch = task;
    Py_ssize_t count = batch->rows->count;
    size_t taken = 0;
    for (Py_ssize_t first; (first = atomic_fetch_add(&batch->next, batch->rows_at_once)) < count;) {
        Py_ssize_t stop = first + batch->rows_at_once < count ? first + batch->rows_at_once : count;
        if (encode_items(batch, thread, first, stop))
            atomic_store(&batch->stops, 1);
        taken += (size_t)(stop - first);
        if (batch->calls[thread].left > FIRST_LEFT && 2 * batch->calls[thread].left > taken)
            return;
    }
}

/* Give the ids of a call to rows. */
static int keep_ids(Call *call, Rows *rows, size_t thread)
{
    if (call->ids == call->ids_at_hand && widen(call, 0))
        return -1;
    rows->ids[thread] = call->ids;
    call->ids = call->ids_at_hand;
    return 0;
}

/* In the child of a fork: let go of what the helpers had, of which nobody knows what they were at. */
static void forget_helpers(Batch *batch)
{
    for (Py_ssize_t i = 0; i < batch->rows->count; i++)
        if (batch->rows->rows[i].state == DONE_BY_HELPER)
            batch->rows->rows[i].state = OPEN;
    for (size_t thread = 1; thread < batch->rows->threads; thread++) {
        Call *call = &batch->calls[thread];
        call->ids = call->ids_at_hand;
        call->word = call->word_at_hand;
        call->count = 0;
    }
}

/* Work out all rows, by the threads that there are calls for. */
static int encode_batch(Batch *batch)
{
    Rows *rows = batch->rows;
    Call *own = batch->calls;
    Crew crew;
    for (size_t thread = 1; thread < rows->threads; thread++) {
        batch->calls[thread].without_gil = 1;
        batch->calls[thread].told_to_stop = &batch->stops;
    }
    start_crew(&crew, rows->threads - 1, rows->threads, encode_share, batch);
    atomic_fetch_add(&own->kernel->helped, crew.helpers);
    give_gil(own);
    encode_share(batch, 0);
    end_crew(&crew, own, &batch->stops);
    if (is_lost(&crew))
        forget_helpers(batch);
    int failed = encode_items(batch, 0, 0, rows->count) || atomic_load(&batch->stops);
    take_gil(own);
    for (size_t thread = 0; thread < rows->threads; thread++) {
        batch->calls[thread].without_gil = 0;
        failed = failed || keep_ids(&batch->calls[thread], rows, thread);
    }
    return failed ? -1 : 0;
}

/* How many threads may work on items: as many as Python allows, where there is enough to read. 0 for an error. */
static size_t threads_for(size_t size, Py_ssize_t count, PyObject *allowed)
{
    size_t most = size / BYTES_A_THREAD < (size_t)count ? size / BYTES_A_THREAD : (size_t)count;
    if (!allowed || allowed == Py_None || most < 2)
        return 1;
    PyObject *answer = PyObject_CallFunction(allowed, "I", atomic_load(&forks));
    long long number = answer ? PyLong_AsLongLong(answer) : 0;
    Py_XDECREF(answer);
    if (PyErr_Occurred())
        return 0;
    most = most < MOST_THREADS ? most : MOST_THREADS;
    return number < 1 ? 1 : (size_t)number < most ? (size_t)number : most;
}

/* The rows of items; None where one that has to be checked is no UTF-8. */
static PyObject *rows_of_items(Kernel *kernel, const Item *items, Py_ssize_t count, PyObject *allowed)
{
    size_t size = 0, begun = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        size += items[i].size;
    size_t threads = threads_for(size, count, allowed);
    Rows *rows = threads ? new_rows(kernel, count, threads) : NULL;
    if (!rows)
        return NULL;
    Batch batch = {.items = items, .rows = rows, .calls = new_zeroed(threads, sizeof *batch.calls)};
    batch.rows_at_once = 1 + count / (Py_ssize_t)(threads * PARTS_A_THREAD);
    if (!batch.calls)
        PyErr_NoMemory();
    while (batch.calls && begun < threads && !begin(&batch.calls[begun], kernel, 0))
        begun++;
    int failed = begun < threads;
    /* By this thread: what a helper asks for is another part of memory, which the system takes back when it has
       ended. */
    size_t ids = size / threads / BYTES_AN_ID;
    for (size_t thread = 0; thread < threads && !failed; thread++)
        failed = need(&batch.calls[thread], ids < IDS_AT_FIRST ? ids : IDS_AT_FIRST);
    failed = failed || encode_batch(&batch);
    for (size_t thread = 0; thread < begun; thread++)
        end(&batch.calls[thread], failed && !atomic_load(&batch.is_no_utf8));
    give_back(batch.calls);
    if (!failed)
        return (PyObject *)rows;
    Py_DECREF((PyObject *)rows);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *Kernel_rows(Kernel *kernel, PyObject *arguments)
{
    PyObject *sequence, *allowed = NULL;
    if (!PyArg_ParseTuple(arguments, "O|O", &sequence, &allowed))
        return NULL;
    PyObject *texts = PySequence_Tuple(sequence);
    if (!texts)
        return NULL;
    Py_ssize_t count = PyTuple_Size(texts);
    Item *items = new_zeroed((size_t)count, sizeof *items);
    for (Py_ssize_t i = 0; items && i < count && !PyErr_Occurred(); i++) {
        items[i].text = PyTuple_GetItem(texts, i);
        items[i].bytes = utf8_of(items[i].text, &items[i].size);
    }
    PyObject *rows = items && !PyErr_Occurred() ? rows_of_items(kernel, items, count, allowed) : NULL;
    if (!items)
        PyErr_NoMemory();
    give_back(items);
    Py_DECREF(texts);
    return rows;
}

/* ---- texts that are bytes of UTF-8 already ----------------------------------------------------------------------- */

/* The items between offsets; -1 where they are not of the data. */
static int fill_items(Item *items, const Py_buffer *data, const int64_t *bounds, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (bounds[i] < 0 || bounds[i + 1] < bounds[i] || bounds[i + 1] > data->len)
            return -1;
        items[i].bytes = (const uint8_t *)data->buf + bounds[i];
        items[i].size = (size_t)(bounds[i + 1] - bounds[i]);
    }
    return 0;
}

static PyObject *Kernel_rows_between(Kernel *kernel, PyObject *arguments)
{
    Py_buffer data, offsets;
    Py_ssize_t first, count;
    PyObject *allowed = NULL, *rows = NULL;
    if (!PyArg_ParseTuple(arguments, "y*y*nn|O", &data, &offsets, &first, &count, &allowed))
        return NULL;
    int is_within = first >= 0 && count >= 0 && first < PY_SSIZE_T_MAX - count && offsets.len / 8 > first + count;
    Item *items = is_within ? new_zeroed((size_t)count, sizeof *items) : NULL;
    if (!is_within)
        PyErr_SetString(PyExc_ValueError, "there are fewer offsets");
    else if (!items)
        PyErr_NoMemory();
    else if (fill_items(items, &data, (const int64_t *)offsets.buf + first, count))
        rows = Py_NewRef(Py_None);
    else
        rows = rows_of_items(kernel, items, count, allowed);
    give_back(items);
    PyBuffer_Release(&data);
    PyBuffer_Release(&offsets);
    return rows;
}

#endif
