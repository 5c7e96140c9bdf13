/* What Python gets for many texts: the ids of each, a row, in one buffer.

   In: str objects, or a buffer of UTF-8. Out: `Rows`, which give lists, or numbers in one buffer. */
#ifndef TRIETOK_KERNEL_ROWS_H
#define TRIETOK_KERNEL_ROWS_H

#include "_kernel_results.h"

typedef struct {
    PyObject_HEAD
    Kernel *kernel;
    int32_t *ids;
    size_t *starts, *ends; /* of each row in `ids` */
    Py_ssize_t count;
} Rows;

static PyTypeObject *type_of_rows(PyObject *kernel);

static void Rows_dealloc(Rows *rows)
{
    PyTypeObject *type = Py_TYPE((PyObject *)rows);
    Py_XDECREF((PyObject *)rows->kernel);
    give_back(rows->ids);
    give_back(rows->starts);
    give_back(rows->ends);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(rows);
    Py_DECREF(type);
}

static size_t row_length(const Rows *rows, Py_ssize_t row) { return rows->ends[row] - rows->starts[row]; }

PyDoc_STRVAR(lengths_doc, "lengths()\n--\n\nHow many ids each row has.");

static PyObject *Rows_lengths(Rows *rows, PyObject *Py_UNUSED(ignored))
{
    PyObject *list = PyList_New(rows->count);
    for (Py_ssize_t row = 0; list && row < rows->count; row++) {
        PyObject *length = PyLong_FromSize_t(row_length(rows, row));
        if (length)
            PyList_SetItem(list, row, length);
        else
            Py_CLEAR(list);
    }
    return list;
}

PyDoc_STRVAR(int32_lengths_doc,
    "int32_lengths(around, /)\n--\n\nHow many ids each row has, and as many more as are around it, as int32.");

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

PyDoc_STRVAR(cut_doc, "cut(room, from_left, /)\n--\n\nCut each row to at most so many ids, at its beginning or its end.");

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
            rows->starts[row] = rows->ends[row] - (size_t)room;
        else
            rows->ends[row] = rows->starts[row] + (size_t)room;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(lists_doc, "lists(front, back, /)\n--\n\nEach row as a list of ids between those of two lists.");

static PyObject *Rows_lists(Rows *rows, PyObject *arguments)
{
    PyObject *front, *back;
    if (!PyArg_ParseTuple(arguments, "OO", &front, &back) || !is_list_or_absent(front) || !is_list_or_absent(back))
        return NULL;
    PyObject *lists = PyList_New(rows->count);
    for (Py_ssize_t row = 0; lists && row < rows->count; row++) {
        PyObject *list = list_of(rows->kernel, front, rows->ids + rows->starts[row], row_length(rows, row), back);
        if (list)
            PyList_SetItem(lists, row, list);
        else
            Py_CLEAR(lists);
    }
    return lists;
}

typedef struct {
    size_t width;
    const char *front, *back; /* numbers */
    Py_ssize_t front_size, back_size;
    long long padding;
    int pads_left;
    long long filler; /* instead of each id, unless it is negative */
} Shape;

static int64_t *fill_with(int64_t *to, size_t count, int64_t number)
{
    for (size_t i = 0; i < count; i++)
        *to++ = number;
    return to;
}

static void fill_row(const Rows *rows, Py_ssize_t row, const Shape *shape, int64_t *to)
{
    const int32_t *ids = rows->ids + rows->starts[row];
    size_t length = row_length(rows, row), front = (size_t)shape->front_size / 8, back = (size_t)shape->back_size / 8,
           missing = shape->width - length - front - back;
    if (shape->pads_left)
        to = fill_with(to, missing, shape->padding);
    memcpy(to, shape->front, front * 8);
    to += front;
    if (shape->filler >= 0)
        to = fill_with(to, length, shape->filler);
    else
        for (size_t i = 0; i < length; i++)
            *to++ = ids[i];
    memcpy(to, shape->back, back * 8);
    if (!shape->pads_left)
        fill_with(to + back, missing, shape->padding);
}

static int fit(const Rows *rows, const Shape *shape)
{
    size_t around = (size_t)shape->front_size / 8 + (size_t)shape->back_size / 8;
    for (Py_ssize_t row = 0; row < rows->count; row++)
        if (row_length(rows, row) + around > shape->width)
            return 0;
    return 1;
}

PyDoc_STRVAR(int64_doc,
    "int64(width, front, back, padding, pads_left, filler=-1, /)\n--\n\n"
    "All rows as int64 of one width, each between what is in `front` and `back`, with padding for what it lacks.\n\n"
    "Where `filler` is not negative, it stands for each id.");

static PyObject *Rows_int64(Rows *rows, PyObject *arguments)
{
    Shape shape = {.filler = -1};
    Py_ssize_t width;
    if (!PyArg_ParseTuple(arguments, "ny#y#Lp|L", &width, &shape.front, &shape.front_size, &shape.back,
            &shape.back_size, &shape.padding, &shape.pads_left, &shape.filler))
        return NULL;
    shape.width = width < 0 ? 0 : (size_t)width;
    if (!fit(rows, &shape)) {
        PyErr_SetString(PyExc_ValueError, "a row is longer than the width");
        return NULL;
    }
    if (shape.width && rows->count > PY_SSIZE_T_MAX / 8 / (Py_ssize_t)shape.width)
        return PyErr_NoMemory();
    PyObject *array = PyByteArray_FromStringAndSize(NULL, rows->count * (Py_ssize_t)shape.width * 8);
    if (!array)
        return NULL;
    int64_t *numbers = (int64_t *)(void *)PyByteArray_AsString(array);
    PyThreadState *released = PyEval_SaveThread(); /* nobody else has the array yet */
    for (Py_ssize_t row = 0; row < rows->count; row++)
        fill_row(rows, row, &shape, numbers + (size_t)row * shape.width);
    PyEval_RestoreThread(released);
    return array;
}

PyDoc_STRVAR(int32_doc,
    "int32(front, back, /)\n--\n\nAll rows as int32, one behind the other, each between what is in two bytes.");

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
        memcpy(to + front_size, rows->ids + rows->starts[row], length);
        memcpy(to + (size_t)front_size + length, back, (size_t)back_size);
        to += length + around;
    }
    PyEval_RestoreThread(released);
    return array;
}

/* ---- making them -------------------------------------------------------------------------------------------------- */

static Rows *new_rows(Kernel *kernel, Py_ssize_t count)
{
    PyTypeObject *type = type_of_rows((PyObject *)kernel);
    Rows *rows = type ? (Rows *)PyType_GenericAlloc(type, 0) : NULL;
    if (!rows)
        return NULL;
    rows->kernel = (Kernel *)Py_NewRef((PyObject *)kernel);
    rows->count = count;
    rows->starts = new_zeroed((size_t)count, sizeof *rows->starts);
    rows->ends = new_zeroed((size_t)count, sizeof *rows->ends);
    if (rows->starts && rows->ends)
        return rows;
    Py_DECREF((PyObject *)rows);
    PyErr_NoMemory();
    return NULL;
}

/* A text of a batch: its UTF-8. `bytes` is NULL where Python's plain way has to encode it. */
typedef struct {
    PyObject *text; /* NULL where there are bytes only */
    const uint8_t *bytes;
    size_t size;
} Item;

/* Room for items. */
static Item *new_items(Py_ssize_t count)
{
    Item *items = new_zeroed((size_t)count, sizeof *items);
    if (!items)
        PyErr_NoMemory();
    return items;
}

/* The items of a tuple, which must outlive them. */
static Item *items_of(PyObject *texts, Py_ssize_t count)
{
    Item *items = new_items(count);
    for (Py_ssize_t i = 0; items && i < count; i++) {
        items[i].text = PyTuple_GetItem(texts, i);
        items[i].bytes = utf8_of(items[i].text, &items[i].size);
        if (!items[i].bytes && PyErr_Occurred()) {
            give_back(items);
            items = NULL;
        }
    }
    return items;
}

static Outcome encode_plainly(Call *call, const Item *item)
{
    PyObject *plain = call->kernel->plain;
    if (!item->text)
        return ask_for_numbers(call, plain, item->bytes, item->size);
    enter_python(call);
    PyObject *ids = PyObject_CallFunctionObjArgs(plain, item->text, NULL);
    Outcome outcome = take_numbers(call, ids);
    Py_XDECREF(ids);
    leave_python(call);
    return outcome;
}

static Outcome encode_item(Call *call, const Item *item)
{
    size_t count = call->count;
    Outcome outcome = item->bytes ? encode_text(call, item->bytes, item->size) : FOR_PLAIN;
    if (outcome != FOR_PLAIN)
        return outcome;
    call->count = count;
    return encode_plainly(call, item);
}

static Outcome encode_items(Call *call, const Item *items, Rows *rows)
{
    size_t read = 0;
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        rows->starts[row] = call->count;
        if (encode_item(call, &items[row]))
            return FAILURE;
        rows->ends[row] = call->count;
        read += items[row].size;
        if (read > BYTES_BETWEEN_LOOKS) {
            read = 0;
            if (look_for_signals(call))
                return FAILURE;
        }
    }
    return DONE;
}

/* Give the ids of a call to rows. */
static int keep_ids(Call *call, Rows *rows)
{
    if (call->ids == call->ids_at_hand && widen(call, 0))
        return -1;
    rows->ids = call->ids;
    call->ids = call->ids_at_hand;
    return 0;
}

static Rows *rows_of_items(Kernel *kernel, const Item *items, Py_ssize_t count)
{
    Call call;
    Rows *rows = new_rows(kernel, count);
    if (!rows || begin(&call, kernel, 1)) {
        Py_XDECREF((PyObject *)rows);
        return NULL;
    }
    int failed = encode_items(&call, items, rows) != DONE || keep_ids(&call, rows);
    take_gil(&call);
    end(&call, failed);
    if (failed) {
        Py_DECREF((PyObject *)rows);
        return NULL;
    }
    return rows;
}

PyDoc_STRVAR(rows_doc, "rows(texts, /)\n--\n\nThe ids of each text, worked out without the GIL.");

static PyObject *Kernel_rows(Kernel *kernel, PyObject *sequence)
{
    PyObject *texts = PySequence_Tuple(sequence);
    if (!texts)
        return NULL;
    Py_ssize_t count = PyTuple_Size(texts);
    Item *items = items_of(texts, count);
    Rows *rows = items ? rows_of_items(kernel, items, count) : NULL;
    give_back(items);
    Py_DECREF(texts);
    return (PyObject *)rows;
}

/* ---- texts that are bytes of UTF-8 already -------------------------------------------------------------------------- */

/* How many bytes the UTF-8 character at `at` has; 0 for what is none (Unicode Standard, table 3-7). */
static inline size_t checked_length(const uint8_t *at, size_t left)
{
    uint8_t first = at[0], lowest = 0x80, highest = 0xbf;
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length < 2 || length > left)
        return length == 1;
    if (first == 0xe0)
        lowest = 0xa0;
    else if (first == 0xed)
        highest = 0x9f;
    else if (first == 0xf0)
        lowest = 0x90;
    else if (first == 0xf4)
        highest = 0x8f;
    if (at[1] < lowest || at[1] > highest)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
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

/* The items between offsets; NULL without an exception where they are no texts of the data. Runs without the GIL. */
static int fill_items(Item *items, const Py_buffer *data, const Py_buffer *offsets, Py_ssize_t first, Py_ssize_t count)
{
    const int64_t *bounds = (const int64_t *)offsets->buf + first;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (bounds[i] < 0 || bounds[i + 1] < bounds[i] || bounds[i + 1] > data->len)
            return -1;
        items[i].bytes = (const uint8_t *)data->buf + bounds[i];
        items[i].size = (size_t)(bounds[i + 1] - bounds[i]);
        if (!is_utf8(items[i].bytes, items[i].size))
            return -1;
    }
    return 0;
}

static PyObject *rows_between(
    Kernel *kernel, const Py_buffer *data, const Py_buffer *offsets, Py_ssize_t first, Py_ssize_t count)
{
    if (first < 0 || count < 0 || first > PY_SSIZE_T_MAX - count - 1 || offsets->len / 8 < first + count + 1) {
        PyErr_SetString(PyExc_ValueError, "there are fewer offsets");
        return NULL;
    }
    Item *items = new_items(count);
    if (!items)
        return NULL;
    PyThreadState *released = PyEval_SaveThread();
    int are_none = fill_items(items, data, offsets, first, count);
    PyEval_RestoreThread(released);
    PyObject *rows = are_none ? Py_NewRef(Py_None) : (PyObject *)rows_of_items(kernel, items, count);
    give_back(items);
    return rows;
}

PyDoc_STRVAR(rows_between_doc,
    "rows_between(data, offsets, first, count, /)\n--\n\n"
    "The ids of `count` texts that lie in a buffer of UTF-8, between int64 offsets, from the offset `first` on.\n\n"
    "None where what lies there is no UTF-8. Nobody may write into the buffers meanwhile.");

static PyObject *Kernel_rows_between(Kernel *kernel, PyObject *arguments)
{
    Py_buffer data, offsets;
    Py_ssize_t first, count;
    if (!PyArg_ParseTuple(arguments, "y*y*nn", &data, &offsets, &first, &count))
        return NULL;
    PyObject *rows = rows_between(kernel, &data, &offsets, first, count);
    PyBuffer_Release(&data);
    PyBuffer_Release(&offsets);
    return rows;
}

#endif
