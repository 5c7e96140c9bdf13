/* What Python gets: the ids of a text as a list, those of many texts as `Rows` in one buffer.

   In: str objects. Out: Python objects. A text that has no UTF-8, or is of a subclass of str, goes Python's plain way. */
#ifndef TRIETOK_KERNEL_RESULTS_H
#define TRIETOK_KERNEL_RESULTS_H

#include "_kernel_calls.h"

typedef struct {
    PyObject_HEAD
    Kernel *kernel;
    int32_t *ids;
    size_t *starts, *ends; /* of each row in `ids` */
    Py_ssize_t count;
} Rows;

/* ---- lists of ints ------------------------------------------------------------------------------------------------ */

/* A new reference to the int of an id; those of small ids are made once. */
static PyObject *number_of(Kernel *kernel, int32_t id)
{
    if ((size_t)id >= kernel->numbers_size)
        return PyLong_FromLong(id);
    PyObject *number = kernel->numbers[id];
    if (!number) {
        number = kernel->numbers[id] = PyLong_FromLong(id);
        if (!number)
            return NULL;
    }
    Py_INCREF(number);
    return number;
}

/* Put the items of `from`, a list or NULL, into `list` from `at` on. Returns where they end. */
static Py_ssize_t put_items(PyObject *list, Py_ssize_t at, PyObject *from)
{
    Py_ssize_t count = from ? PyList_Size(from) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(from, i);
        Py_INCREF(item);
        PyList_SetItem(list, at++, item);
    }
    return at;
}

/* A list of ids between those of two other lists, which may be NULL. */
static PyObject *list_of(Kernel *kernel, PyObject *front, const int32_t *ids, size_t count, PyObject *back)
{
    Py_ssize_t around = (front ? PyList_Size(front) : 0) + (back ? PyList_Size(back) : 0);
    PyObject *list = PyList_New((Py_ssize_t)count + around);
    if (!list)
        return NULL;
    Py_ssize_t at = put_items(list, 0, front);
    for (size_t i = 0; i < count; i++) {
        PyObject *number = number_of(kernel, ids[i]);
        if (!number) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SetItem(list, at++, number);
    }
    put_items(list, at, back);
    return list;
}

/* The ids that Python's plain way gives, between those of two lists. */
static PyObject *plain_list(Kernel *kernel, PyObject *front, PyObject *text, PyObject *back)
{
    PyObject *ids = PyObject_CallFunctionObjArgs(kernel->plain, text, NULL);
    if (!ids || !(front || back))
        return ids;
    PyObject *whole = NULL;
    if (!PyList_Check(ids))
        PyErr_SetString(PyExc_TypeError, "the plain way must give a list");
    else
        whole = PyList_New((front ? PyList_Size(front) : 0) + PyList_Size(ids) + (back ? PyList_Size(back) : 0));
    if (whole)
        put_items(whole, put_items(whole, put_items(whole, 0, front), ids), back);
    Py_DECREF(ids);
    return whole;
}

/* The UTF-8 of a str; NULL without an exception for one that has none, or that is of a subclass, which may have
   methods of its own; NULL with an exception for an error. */
static const uint8_t *utf8_of(PyObject *text, size_t *size)
{
    Py_ssize_t length;
    if (!Py_IS_TYPE(text, &PyUnicode_Type))
        return NULL;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &length);
    if (!bytes) {
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            PyErr_Clear();
        return NULL;
    }
    *size = (size_t)length;
    return (const uint8_t *)bytes;
}

static int is_list_or_absent(PyObject *around)
{
    if (!around || PyList_Check(around))
        return 1;
    PyErr_SetString(PyExc_TypeError, "the ids around a text are a list");
    return 0;
}

PyDoc_STRVAR(ids_doc, "ids(text, front=[], back=[], /)\n--\n\nThe ids of a text between those of two lists.");

static PyObject *Kernel_ids(Kernel *kernel, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 1 && count != 3) {
        PyErr_SetString(PyExc_TypeError, "ids takes a text, and two lists of ids or none");
        return NULL;
    }
    PyObject *text = arguments[0], *front = count == 3 ? arguments[1] : NULL, *back = count == 3 ? arguments[2] : NULL;
    if (!is_list_or_absent(front) || !is_list_or_absent(back))
        return NULL;
    size_t size;
    const uint8_t *bytes = utf8_of(text, &size);
    if (!bytes)
        return PyErr_Occurred() ? NULL : plain_list(kernel, front, text, back);
    Call call;
    begin(&call, kernel, 0);
    int failed = encode_text(&call, bytes, size) != 0;
    PyThread_release_lock(kernel->lock);
    PyObject *list = failed ? NULL : list_of(kernel, front, call.ids, call.count, back);
    end(&call);
    if (failed && !PyErr_Occurred())
        PyErr_NoMemory();
    return list;
}

/* ---- rows: the ids of many texts in one buffer --------------------------------------------------------------------- */

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
    const char *front, *back; /* int64 numbers */
    Py_ssize_t front_size, back_size;
    int64_t padding;
    int pads_left;
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
    for (size_t i = 0; i < length; i++)
        *to++ = ids[i];
    memcpy(to, shape->back, back * 8);
    if (!shape->pads_left)
        fill_with(to + back, missing, shape->padding);
}

PyDoc_STRVAR(int64_doc,
    "int64(width, front, back, padding, pads_left, /)\n--\n\n"
    "All rows as int64 of one width, each between what is in `front` and `back`, with padding for what it lacks.");

static PyObject *Rows_int64(Rows *rows, PyObject *arguments)
{
    Shape shape;
    Py_ssize_t width;
    long long padding;
    if (!PyArg_ParseTuple(arguments, "ny#y#Lp", &width, &shape.front, &shape.front_size, &shape.back,
            &shape.back_size, &padding, &shape.pads_left))
        return NULL;
    size_t around = (size_t)shape.front_size / 8 + (size_t)shape.back_size / 8;
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        if (width < 0 || row_length(rows, row) + around > (size_t)width) {
            PyErr_SetString(PyExc_ValueError, "a row is longer than the width");
            return NULL;
        }
    }
    if (width && rows->count > PY_SSIZE_T_MAX / 8 / width)
        return PyErr_NoMemory();
    shape.width = (size_t)width;
    shape.padding = padding;
    PyObject *array = PyByteArray_FromStringAndSize(NULL, rows->count * width * 8);
    if (!array)
        return NULL;
    int64_t *numbers = (int64_t *)(void *)PyByteArray_AsString(array);
    for (Py_ssize_t row = 0; row < rows->count; row++)
        fill_row(rows, row, &shape, numbers + row * width);
    return array;
}

static Rows *new_rows(Kernel *kernel, Py_ssize_t count)
{
    PyTypeObject *type = type_of_rows((PyObject *)kernel);
    Rows *rows = type ? (Rows *)PyType_GenericAlloc(type, 0) : NULL;
    if (!rows)
        return NULL;
    Py_INCREF((PyObject *)kernel);
    rows->kernel = kernel;
    rows->count = count;
    rows->starts = new_zeroed((size_t)count, sizeof *rows->starts);
    rows->ends = new_zeroed((size_t)count, sizeof *rows->ends);
    if (rows->starts && rows->ends)
        return rows;
    Py_DECREF((PyObject *)rows);
    PyErr_NoMemory();
    return NULL;
}

/* A text of a batch: its UTF-8; `bytes` is NULL where Python's plain way has to encode it. */
typedef struct {
    PyObject *text;
    const uint8_t *bytes;
    size_t size;
} Item;

/* The items of a tuple, which must outlive them. */
static Item *items_of(PyObject *texts, Py_ssize_t count)
{
    Item *items = new_zeroed((size_t)count, sizeof *items);
    if (!items)
        PyErr_NoMemory();
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

static int encode_plainly(Call *call, PyObject *text)
{
    enter_python(call);
    PyObject *ids = PyObject_CallFunctionObjArgs(call->kernel->plain, text, NULL);
    int result = take_ids(call, ids);
    Py_XDECREF(ids);
    leave_python(call);
    return result;
}

static int encode_items(Call *call, const Item *items, Rows *rows)
{
    size_t read = 0;
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        const Item *item = &items[row];
        rows->starts[row] = call->count;
        if (item->bytes ? encode_text(call, item->bytes, item->size) : encode_plainly(call, item->text))
            return -1;
        rows->ends[row] = call->count;
        read += item->size;
        if (read > BYTES_BETWEEN_LOOKS) {
            read = 0;
            if (look_for_signals(call))
                return -1;
        }
    }
    return 0;
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

PyDoc_STRVAR(rows_doc, "rows(texts, /)\n--\n\nThe ids of each text, worked out without the GIL.");

static PyObject *Kernel_rows(Kernel *kernel, PyObject *sequence)
{
    PyObject *texts = PySequence_Tuple(sequence);
    if (!texts)
        return NULL;
    Py_ssize_t count = PyTuple_Size(texts);
    Item *items = items_of(texts, count);
    Rows *rows = items ? new_rows(kernel, count) : NULL;
    if (rows) {
        Call call;
        begin(&call, kernel, 1);
        int failed = encode_items(&call, items, rows) != 0 || keep_ids(&call, rows);
        PyThread_release_lock(kernel->lock);
        PyEval_RestoreThread(call.released);
        end(&call);
        if (failed) {
            if (!PyErr_Occurred())
                PyErr_NoMemory();
            Py_DECREF((PyObject *)rows);
            rows = NULL;
        }
    }
    give_back(items);
    Py_DECREF(texts);
    return (PyObject *)rows;
}

#endif
