/* What Python gets for one text: a list of ids, or of spans.

   In: a str. Out: Python objects. A text that has no UTF-8, or is of a subclass of str, goes Python's plain way. */
#ifndef TRIETOK_KERNEL_RESULTS_H
#define TRIETOK_KERNEL_RESULTS_H

#include "_kernel_texts.h"

/* ---- lists of ints ----------------------------------------------------------------------------------------------- */

/* A new reference to the int of a number; small ones are made once. */
static inline PyObject *number_of(const Numbers *numbers, long long number)
{
    if ((size_t)number >= numbers->size)
        return PyLong_FromLongLong(number);
    PyObject **made = &numbers->made[number];
    if (!*made)
        *made = PyLong_FromLongLong(number);
    return Py_XNewRef(*made);
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
    for (Py_ssize_t i = 0; i < count; i++)
        PUT_ITEM(list, at++, Py_NewRef(PyList_GetItem(from, i)));
    return at;
}

/* Put ids into `list` from `at` on. Returns where they end; -1 for no memory. */
static inline Py_ssize_t put_ids(const Numbers *numbers, PyObject *list, Py_ssize_t at, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t ahead = (size_t)ids[i + INTS_AHEAD < count ? i + INTS_AHEAD : i];
        if (ahead < numbers->size)
            FETCH(numbers->made[ahead]);
        PyObject *number = number_of(numbers, ids[i]);
        if (!number)
            return -1;
        PUT_ITEM(list, at++, number);
    }
    return at;
}

/* A list of ids between those of two other lists, which may be NULL. */
static PyObject *list_of(const Numbers *numbers, PyObject *front, const int32_t *ids, size_t count, PyObject *back)
{
    Py_ssize_t around = (front ? PyList_Size(front) : 0) + (back ? PyList_Size(back) : 0);
    PyObject *list = PyList_New((Py_ssize_t)count + around);
    if (!list)
        return NULL;
    Py_ssize_t at = put_ids(numbers, list, put_items(list, 0, front), ids, count);
    if (at < 0)
        Py_CLEAR(list);
    else
        put_items(list, at, back);
    return list;
}

/* Begin a call for one text, and put its ids; the call has the GIL then. -1 where none was begun. */
static int encode_one(Call *call, Kernel *kernel, PyObject *text, Outcome *outcome)
{
    Item item = {.text = text};
    item.bytes = utf8_of(text, &item.size);
    if ((!item.bytes && PyErr_Occurred()) || begin(call, kernel, item.size > BYTES_WITH_GIL))
        return -1;
    *outcome = encode_item(call, item);
    take_gil(call);
    return 0;
}

static PyObject *Kernel_ids(Kernel *kernel, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 1 && (count != 3 || !PyList_Check(arguments[1]) || !PyList_Check(arguments[2]))) {
        PyErr_SetString(PyExc_TypeError, "ids takes a text, and two lists of ids or none");
        return NULL;
    }
    PyObject *front = count == 3 ? arguments[1] : NULL, *back = count == 3 ? arguments[2] : NULL;
    Call call;
    Outcome outcome;
    if (encode_one(&call, kernel, arguments[0], &outcome))
        return NULL;
    PyObject *list = outcome == DONE ? list_of(&kernel->numbers, front, call.ids, call.count, back) : NULL;
    end(&call, outcome != DONE);
    return list;
}

static PyObject *Kernel_count(Kernel *kernel, PyObject *text)
{
    Call call;
    Outcome outcome;
    if (encode_one(&call, kernel, text, &outcome))
        return NULL;
    PyObject *number = outcome == DONE ? PyLong_FromSize_t(call.count) : NULL;
    end(&call, outcome != DONE);
    return number;
}

/* The spans that steps lead to. */
static PyObject *spans_of(const Numbers *numbers, const int32_t *steps, size_t count)
{
    PyObject *spans = PyList_New((Py_ssize_t)count / 2);
    long long at = -1; /* a space before the text, as it were */
    for (size_t i = 0; spans && i + 1 < count; i += 2) {
        long long start = at + steps[i];
        at = start + steps[i + 1];
        PyObject *first = number_of(numbers, start), *second = number_of(numbers, at);
        PyObject *pair = first && second ? PyTuple_Pack(2, first, second) : NULL;
        Py_XDECREF(first);
        Py_XDECREF(second);
        if (!pair || PyList_SetItem(spans, (Py_ssize_t)i / 2, pair))
            Py_CLEAR(spans);
    }
    return spans;
}

static PyObject *Kernel_spans(Kernel *kernel, PyObject *text)
{
    size_t size;
    const uint8_t *bytes = utf8_of(text, &size);
    if (!bytes)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    Call call;
    if (begin(&call, kernel, size > BYTES_WITH_GIL))
        return NULL;
    Outcome outcome = put_steps(&call, bytes, size);
    take_gil(&call);
    PyObject *spans = outcome == DONE ? spans_of(&kernel->numbers, call.ids, call.count) : NULL;
    end(&call, outcome == FAILURE);
    return outcome == FOR_PLAIN ? Py_NewRef(Py_None) : spans;
}

#endif
