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
    Kernel *kernel;
    int32_t *ids[MOST_THREADS]; /* of each thread */
    size_t threads;
    Row *rows;
    Py_ssize_t count;
} IdRows;

typedef struct {
    PyObject_HEAD
    IdRows all;
} Rows;

static PyTypeObject *type_of_rows(PyObject *kernel);

static void free_rows(IdRows *rows)
{
    Py_XDECREF((PyObject *)rows->kernel);
    for (size_t thread = 0; thread < rows->threads; thread++)
        give_back(rows->ids[thread]);
    give_back(rows->rows);
}

static void Rows_dealloc(Rows *rows)
{
    PyTypeObject *type = Py_TYPE((PyObject *)rows);
    free_rows(&rows->all);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(rows);
    Py_DECREF(type);
}

/* The object that has rows from now on; they are given back where there is none. */
static PyObject *object_of(IdRows *all)
{
    PyTypeObject *type = type_of_rows((PyObject *)all->kernel);
    Rows *rows = type ? (Rows *)PyType_GenericAlloc(type, 0) : NULL;
    if (rows)
        rows->all = *all;
    else
        free_rows(all);
    return (PyObject *)rows;
}

static const int32_t *row_ids(const IdRows *rows, Py_ssize_t row)
{
    return rows->ids[rows->rows[row].thread] + rows->rows[row].start;
}

static size_t row_length(const IdRows *rows, Py_ssize_t row) { return rows->rows[row].length; }

static PyObject *Rows_int32_lengths(Rows *object, PyObject *arguments)
{
    const IdRows *rows = &object->all;
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

/* Cut each row to at most so many ids, at its beginning or its end; a negative number cuts nothing. */
static void cut_rows(IdRows *rows, int64_t room, int from_left)
{
    for (Py_ssize_t row = 0; room >= 0 && row < rows->count; row++) {
        if (row_length(rows, row) <= (size_t)room)
            continue;
        if (from_left)
            rows->rows[row].start += row_length(rows, row) - (size_t)room;
        rows->rows[row].length = (size_t)room;
    }
}

static PyObject *Rows_cut(Rows *rows, PyObject *arguments)
{
    Py_ssize_t room;
    int from_left;
    if (!PyArg_ParseTuple(arguments, "np", &room, &from_left))
        return NULL;
    cut_rows(&rows->all, room, from_left);
    Py_RETURN_NONE;
}

static PyObject *Rows_lists(Rows *object, PyObject *Py_UNUSED(ignored))
{
    const IdRows *rows = &object->all;
    PyObject *lists = PyList_New(rows->count);
    for (Py_ssize_t row = 0; lists && row < rows->count; row++) {
        PyObject *list = list_of(&rows->kernel->numbers, NULL, row_ids(rows, row), row_length(rows, row), NULL);
        if (list)
            PyList_SetItem(lists, row, list);
        else
            Py_CLEAR(lists);
    }
    return lists;
}

static PyObject *Rows_int32(Rows *object, PyObject *arguments)
{
    const IdRows *rows = &object->all;
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
    Crew crew;
    const Item *items;
    IdRows rows;
    Call *calls; /* of each thread */
    size_t room; /* for ids of a text: those behind need not be worked out */
    Py_ssize_t rows_at_once;
    _Atomic Py_ssize_t next; /* the first row that no thread has begun */
    _Atomic int stops;       /* an error */
    _Atomic int is_no_utf8;
} Batch;

/* How many bytes a thread should have to read; into how many parts its share is cut; how many bytes an id has, about,
   and for how many ids there is room from the beginning at most. */
enum { TEXT_AHEAD = 512, CACHE_LINE = 64 }; /* bytes of the next text that memory is asked for */
enum { BYTES_A_THREAD = 1 << 17, PARTS_A_THREAD = 16, FIRST_LEFT = 8, BYTES_AN_ID = 3, IDS_AT_FIRST = 1 << 20 };

/* Put the ids of the rows from `first` to `stop` that nobody has worked out. A helper leaves what it cannot do. */
static Outcome encode_items(Batch *batch, size_t thread, Py_ssize_t first, Py_ssize_t stop)
{
    Call *call = &batch->calls[thread];
    for (Py_ssize_t i = first; i < stop && !atomic_load_explicit(&batch->stops, memory_order_relaxed); i++) {
        const Item *item = &batch->items[i];
        Row *row = &batch->rows.rows[i];
        for (size_t ahead = 0; i + 1 < stop && ahead < TEXT_AHEAD && ahead < item[1].size; ahead += CACHE_LINE)
            FETCH(item[1].bytes + ahead);
        if (atomic_load_explicit(&row->state, memory_order_relaxed) != OPEN)
            continue;
        size_t start = call->count;
        call->enough = batch->room < SIZE_MAX - start ? start + batch->room : SIZE_MAX;
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
    Py_ssize_t count = batch->rows.count;
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
static int keep_ids(Call *call, IdRows *rows, size_t thread)
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
    for (Py_ssize_t i = 0; i < batch->rows.count; i++)
        if (batch->rows.rows[i].state == DONE_BY_HELPER)
            batch->rows.rows[i].state = OPEN;
    for (size_t thread = 1; thread < batch->rows.threads; thread++) {
        Call *call = &batch->calls[thread];
        call->ids = call->ids_at_hand;
        call->word = call->word_at_hand;
        call->count = 0;
    }
}

/* Work out all rows, by the threads that there are calls for. */
static int encode_batch(Batch *batch, int without_gil)
{
    IdRows *rows = &batch->rows;
    Call *own = batch->calls;
    Crew *crew = &batch->crew;
    for (size_t thread = 1; thread < rows->threads; thread++) {
        batch->calls[thread].without_gil = 1;
        batch->calls[thread].told_to_stop = &batch->stops;
    }
    start_crew(crew, rows->threads - 1, rows->threads, encode_share, batch);
    atomic_fetch_add(&own->kernel->helped, crew->helpers);
    if (without_gil)
        give_gil(own);
    encode_share(batch, 0);
    end_crew(crew, own, &batch->stops);
    if (is_lost(crew))
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

/* Work out the rows of items, of each text at least the first `room` ids, if it has as many. They are given back by
   `free_rows` unless an error, -1, or an item that is no UTF-8, 1, is what came of it. */
static int encode_rows(
    Kernel *kernel, const Item *items, Py_ssize_t count, PyObject *allowed, size_t room, IdRows *rows)
{
    Batch own_batch, *batch = &own_batch;
    Call own_call, *calls = &own_call;
    size_t size = 0, begun = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        size += items[i].size;
    size_t threads = threads_for(size, count, allowed);
    if (threads > 1) { /* on no stack: see `_kernel_crew.h` */
        batch = new_zeroed(1, sizeof *batch);
        calls = new_zeroed(threads, sizeof *calls);
    }
    Row *made = threads ? new_zeroed((size_t)count, sizeof *made) : NULL;
    int failed = !made || !batch || !calls, is_no_utf8 = 0;
    if (failed && threads)
        PyErr_NoMemory();
    while (!failed && begun < threads && !(failed = begin(&calls[begun], kernel, 0)))
        begun++;
    /* By this thread: what a helper asks for is another part of memory, which the system takes back when it has
       ended. */
    size_t ids = threads ? size / threads / BYTES_AN_ID : 0;
    for (size_t thread = 0; thread < threads && !failed; thread++)
        failed = need(&calls[thread], ids < IDS_AT_FIRST ? ids : IDS_AT_FIRST);
    *rows = (IdRows){.kernel = (Kernel *)Py_NewRef((PyObject *)kernel), .threads = threads, .rows = made, .count = count};
    if (!failed) {
        *batch = (Batch){.items = items, .rows = *rows, .calls = calls, .room = room};
        batch->rows_at_once = 1 + count / (Py_ssize_t)((threads ? threads : 1) * PARTS_A_THREAD);
        failed = encode_batch(batch, size > BYTES_WITH_GIL);
        is_no_utf8 = atomic_load(&batch->is_no_utf8);
        *rows = batch->rows;
    }
    for (size_t thread = 0; thread < begun; thread++)
        end(&calls[thread], failed && !is_no_utf8);
    if (threads > 1) {
        give_back(calls);
        give_back(batch);
    }
    if (failed)
        free_rows(rows);
    return !failed ? 0 : PyErr_Occurred() ? -1 : 1;
}

/* The str objects of a tuple as items; NULL for an error, or where one is of another type and all must be str. */
static Item *items_of(PyObject *texts, Py_ssize_t count, int all_str)
{
    Item *items = new_zeroed((size_t)count, sizeof *items);
    int are_str = 1;
    for (Py_ssize_t i = 0; items && are_str && i < count; i++) {
        items[i].text = PyTuple_GetItem(texts, i);
        are_str = !all_str || PyUnicode_CheckExact(items[i].text);
        if (are_str && !(items[i].bytes = utf8_of(items[i].text, &items[i].size)))
            are_str = !PyErr_Occurred();
    }
    if (items && are_str)
        return items;
    if (!items)
        PyErr_NoMemory();
    give_back(items);
    return NULL;
}

static PyObject *Kernel_rows(Kernel *kernel, PyObject *arguments)
{
    PyObject *sequence, *allowed = NULL;
    IdRows rows;
    if (!PyArg_ParseTuple(arguments, "O|O", &sequence, &allowed))
        return NULL;
    PyObject *texts = PySequence_Tuple(sequence);
    Py_ssize_t count = texts ? PyTuple_Size(texts) : 0;
    Item *items = texts ? items_of(texts, count, 0) : NULL;
    int failed = !items || encode_rows(kernel, items, count, allowed, SIZE_MAX, &rows);
    give_back(items);
    Py_XDECREF(texts);
    return failed ? NULL : object_of(&rows);
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
    PyObject *allowed = NULL, *object = NULL;
    IdRows rows;
    if (!PyArg_ParseTuple(arguments, "y*y*nn|O", &data, &offsets, &first, &count, &allowed))
        return NULL;
    int is_within = first >= 0 && count >= 0 && first < PY_SSIZE_T_MAX - count && offsets.len / 8 > first + count;
    int result;
    Item *items = is_within ? new_zeroed((size_t)count, sizeof *items) : NULL;
    if (!is_within)
        PyErr_SetString(PyExc_ValueError, "there are fewer offsets");
    else if (!items)
        PyErr_NoMemory();
    else if (fill_items(items, &data, (const int64_t *)offsets.buf + first, count))
        object = Py_NewRef(Py_None);
    else if (!(result = encode_rows(kernel, items, count, allowed, SIZE_MAX, &rows)))
        object = object_of(&rows);
    else if (result > 0)
        object = Py_NewRef(Py_None);
    give_back(items);
    PyBuffer_Release(&data);
    PyBuffer_Release(&offsets);
    return object;
}

#endif
