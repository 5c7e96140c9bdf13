/* What Python gets for one text: a list of ids, or of spans.

   In: a str. Out: Python objects. A text that has no UTF-8, or is of a subclass of str, goes Python's plain way. */
#ifndef TRIETOK_KERNEL_RESULTS_H
#define TRIETOK_KERNEL_RESULTS_H

#include "_kernel_texts.h"

/* ---- lists of ints ------------------------------------------------------------------------------------------------ */

/* A new reference to the int of a number; small ones are made once. */
static inline PyObject *number_of(Kernel *kernel, long long number)
{
    if ((size_t)number >= kernel->numbers_size)
        return PyLong_FromLongLong(number);
    PyObject *made = kernel->numbers[number];
    if (!made) {
        made = kernel->numbers[number] = PyLong_FromLongLong(number);
        if (!made)
            return NULL;
    }
    Py_INCREF(made);
    return made;
}

#ifdef Py_LIMITED_API
#define PUT_ITEM PyList_SetItem
#else
#define PUT_ITEM PyList_SET_ITEM
#endif

enum { INTS_AHEAD = 12 }; /* ints lie far from each other, so memory is asked for some ahead */

/* Put the items of `from`, a list or NULL, into `list` from `at` on. Returns where they end. */
static Py_ssize_t put_items(PyObject *list, Py_ssize_t at, PyObject *from)
{
    Py_ssize_t count = from ? PyList_Size(from) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(from, i);
        Py_INCREF(item);
        PUT_ITEM(list, at++, item);
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
        size_t ahead = (size_t)ids[i + INTS_AHEAD < count ? i + INTS_AHEAD : i];
        if (ahead < kernel->numbers_size)
            FETCH(kernel->numbers[ahead]);
        PyObject *number = number_of(kernel, ids[i]);
        if (!number) {
            Py_DECREF(list);
            return NULL;
        }
        PUT_ITEM(list, at++, number);
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

static int is_list_or_absent(PyObject *around)
{
    if (!around || PyList_Check(around))
        return 1;
    PyErr_SetString(PyExc_TypeError, "the ids around a text are a list");
    return 0;
}

#ifdef Py_LIMITED_API
#define short_text(call, text, size) NULL
#else
/* The UTF-8 of a short str that is not of ASCII, in the call's own memory with a space and bytes behind it, so that the
   str does not keep it; NULL for another str. */
static const uint8_t *short_text(Call *call, PyObject *text, size_t *size)
{
#if PY_VERSION_HEX < 0x030C0000
    if (!PyUnicode_CheckExact(text) || PyUnicode_READY(text))
#else
    if (!PyUnicode_CheckExact(text))
#endif
        return NULL;
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (PyUnicode_IS_ASCII(text) || length > TEXT_AT_HAND / 4)
        return NULL;
    uint8_t *to = call->text_at_hand;
    const void *data = PyUnicode_DATA(text);
    for (Py_ssize_t i = 0, kind = PyUnicode_KIND(text); i < length; i++) {
        Py_UCS4 point = PyUnicode_READ((int)kind, data, i);
        if (point >= 0xd800 && point < 0xe000)
            return NULL;
        to += put_code_point(to, point);
    }
    memset(to, ' ', PADDING);
    *size = (size_t)(to - call->text_at_hand);
    return call->text_at_hand;
}
#endif

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
    Call call;
    size_t size;
    const uint8_t *copy = short_text(&call, text, &size), *bytes = copy ? copy : utf8_of(text, &size);
    if (!bytes)
        return PyErr_Occurred() ? NULL : plain_list(kernel, front, text, back);
    if (begin(&call, kernel, size > BYTES_WITH_GIL))
        return NULL;
    Outcome outcome = copy ? encode_padded(&call, copy, size) : encode_text(&call, bytes, size);
    take_gil(&call);
    PyObject *list = outcome == DONE ? list_of(kernel, front, call.ids, call.count, back) : NULL;
    end(&call, outcome == FAILURE);
    return outcome == FOR_PLAIN ? plain_list(kernel, front, text, back) : list;
}

/* ---- spans -------------------------------------------------------------------------------------------------------- */

static PyObject *pair_of_numbers(Kernel *kernel, long long start, long long stop)
{
    PyObject *first = number_of(kernel, start), *second = number_of(kernel, stop);
    PyObject *pair = first && second ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return pair;
}

/* The spans that steps lead to. */
static PyObject *spans_of(Kernel *kernel, const int32_t *steps, size_t count)
{
    PyObject *spans = PyList_New((Py_ssize_t)count / 2);
    long long at = -1; /* a space before the text, as it were */
    for (size_t i = 0; spans && i + 1 < count; i += 2) {
        long long start = at + steps[i];
        at = start + steps[i + 1];
        PyObject *pair = pair_of_numbers(kernel, start, at);
        if (pair)
            PyList_SetItem(spans, (Py_ssize_t)i / 2, pair);
        else
            Py_CLEAR(spans);
    }
    return spans;
}

PyDoc_STRVAR(spans_doc,
    "spans(text, /)\n--\n\n"
    "The spans of a text's tokens, chunk by chunk; None for a text that the kernel cannot read.\n\n"
    "A chunk with characters behind its last token ends with an empty span.");

static PyObject *Kernel_spans(Kernel *kernel, PyObject *text)
{
    size_t size;
    const uint8_t *bytes = utf8_of(text, &size);
    if (!bytes && PyErr_Occurred())
        return NULL;
    if (!bytes)
        Py_RETURN_NONE;
    Call call;
    if (begin(&call, kernel, size > BYTES_WITH_GIL))
        return NULL;
    Outcome outcome = put_steps(&call, bytes, size);
    take_gil(&call);
    PyObject *spans = outcome == DONE ? spans_of(kernel, call.ids, call.count) : NULL;
    end(&call, outcome == FAILURE);
    if (outcome == FOR_PLAIN)
        Py_RETURN_NONE;
    return spans;
}

#endif
