/* What a call returns of many texts: a column of ids, and columns of masks and types beside it.

   In: rows, and a form. Out: a dict of arrays of int64, which are filled by several threads where they are large, or of
   lists. A row has one text, or two, with special tokens around them. */
#ifndef TRIETOK_KERNEL_COLUMNS_H
#define TRIETOK_KERNEL_COLUMNS_H

#include "_kernel_rows.h"

enum { MOST_TEXTS = 2, IDS = -1 }; /* IDS stands in a column for the ids of a text; else its number is each token's */
enum { NOT_PADDED = -1, TO_LONGEST = -2 }; /* in place of a width */

/* What `Form` of `plain.py` has packed. For each column follow the number of a padding token, those of the tokens of
   each text, and those of the special tokens. */
typedef struct {
    int64_t texts;                    /* of a row */
    int64_t specials[MOST_TEXTS + 1]; /* how many stand before the first text, and behind each */
    int64_t room;                     /* for the ids of texts in a row; -1 where nothing is cut off */
    int64_t cuts_left;
    int64_t width;
    int64_t multiple; /* up to which a width is rounded */
    int64_t pads_left;
    int64_t most; /* ids that a row may have without a warning */
    int64_t one;  /* whether lists are those of the only row */
} Form;

typedef struct {
    const IdRows *rows;
    PyObject *names, *make, *dtype; /* see `Form` of `plain.py` */
    Form form;
    const int64_t *columns;
    size_t column_size, column_count, around;
    size_t shortest, longest, filled; /* ids of a row; up to how many it is padded */
    size_t width;
    int64_t **arrays; /* of each column; NULL for one that is there already */
    _Atomic Py_ssize_t next; /* the first row that no thread has begun */
} Filling;

/* Read a form of Python. -1 where it is none, which is no user's mistake. */
static int read_form(Filling *filling, PyObject *object)
{
    Form *form = &filling->form;
    const size_t head = sizeof *form / 8;
    size_t numbers = 0;
    PyObject *parts[4] = {NULL};
    for (Py_ssize_t i = 0; i < 4 && PyTuple_Check(object) && PyTuple_Size(object) == 4; i++)
        parts[i] = PyTuple_GetItem(object, i);
    if (!parts[0] || !PyBytes_Check(parts[0]) || !PyTuple_Check(parts[1])
        || (parts[2] != Py_None && !PyTuple_Check(parts[2]))) {
        PyErr_SetString(PyExc_TypeError, "a form is a tuple of numbers, names, what makes arrays, and a dtype");
        return -1;
    }
    filling->names = parts[1], filling->make = parts[2], filling->dtype = parts[3];
    filling->column_count = (size_t)PyTuple_Size(parts[1]);
    if (!(PyBytes_Size(parts[0]) % 8) && (numbers = (size_t)PyBytes_Size(parts[0]) / 8) >= head) {
        memcpy(form, PyBytes_AsString(parts[0]), sizeof *form);
        filling->columns = (const int64_t *)(const void *)PyBytes_AsString(parts[0]) + head;
    }
    if (numbers >= head && (form->texts == 1 || form->texts == MOST_TEXTS) && form->multiple > 0) {
        for (int64_t i = 0; i <= form->texts; i++)
            filling->around += form->specials[i] >= 0 && (size_t)form->specials[i] < numbers ? (size_t)form->specials[i]
                                                                                             : numbers;
        filling->column_size = 1 + (size_t)form->texts + filling->around;
        if (filling->column_count && numbers - head == filling->column_size * filling->column_count)
            return 0;
    }
    PyErr_SetString(PyExc_ValueError, "the numbers are no form of these columns");
    return -1;
}

static size_t length_in(const IdRows *rows, Py_ssize_t row, int64_t texts)
{
    size_t length = row_length(rows, row * texts);
    return texts == 1 ? length : length + row_length(rows, row * texts + 1);
}

/* Find out how wide the columns are. */
static void measure(Filling *filling)
{
    const Form *form = &filling->form;
    Py_ssize_t count = filling->rows->count / form->texts;
    filling->shortest = SIZE_MAX;
    for (Py_ssize_t row = 0; row < count; row++) {
        size_t length = length_in(filling->rows, row, form->texts) + filling->around;
        filling->shortest = length < filling->shortest ? length : filling->shortest;
        filling->longest = length > filling->longest ? length : filling->longest;
    }
    size_t multiple = (size_t)form->multiple;
    filling->filled = form->width == NOT_PADDED   ? 0
                      : form->width == TO_LONGEST ? (filling->longest + multiple - 1) / multiple * multiple
                                                  : (size_t)form->width;
    filling->width = filling->longest > filling->filled ? filling->longest : filling->filled;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static int64_t *fill_with(int64_t *to, size_t count, int64_t number)
{
    for (size_t i = 0; i < count; i++)
        *to++ = number;
    return to;
}

static void fill_row(const Filling *filling, const int64_t *column, int64_t *to, Py_ssize_t row)
{
    const int64_t texts = filling->form.texts, *special = column + 1 + texts;
    size_t missing = filling->width - filling->around - length_in(filling->rows, row, texts);
    if (filling->form.pads_left)
        to = fill_with(to, missing, column[0]);
    for (int64_t text = 0; text <= texts; text++) {
        for (int64_t i = 0; i < filling->form.specials[text]; i++)
            *to++ = *special++;
        if (text == texts)
            break;
        const int32_t *ids = row_ids(filling->rows, row * texts + text);
        size_t length = row_length(filling->rows, row * texts + text);
        if (column[1 + text] != IDS)
            to = fill_with(to, length, column[1 + text]);
        else
            for (size_t i = 0; i < length; i++)
                *to++ = ids[i];
    }
    if (!filling->form.pads_left)
        fill_with(to, missing, column[0]);
}

enum { BYTES_TO_FILL = 1 << 20, ROWS_AT_ONCE = 16 }; /* bytes that a thread should have to fill; rows that it claims */

static void fill_rows(void *task, size_t Py_UNUSED(thread))
{
    Filling *filling = task;
    Py_ssize_t count = filling->rows->count / filling->form.texts;
    for (Py_ssize_t first; (first = atomic_fetch_add(&filling->next, ROWS_AT_ONCE)) < count;) {
        Py_ssize_t stop = first + ROWS_AT_ONCE < count ? first + ROWS_AT_ONCE : count;
        for (size_t i = 0; i < filling->column_count; i++)
            for (Py_ssize_t row = first; filling->arrays[i] && row < stop; row++)
                fill_row(filling, filling->columns + i * filling->column_size,
                    filling->arrays[i] + (size_t)row * filling->width, row);
    }
}

/* Fill all arrays, without the GIL if there is much to do: nobody else has them yet. */
static void fill_arrays(Filling *filling, size_t bytes)
{
    const IdRows *rows = filling->rows;
    size_t helpers = bytes / BYTES_TO_FILL;
    Crew crew;
    start_crew(&crew, helpers < rows->threads ? helpers : rows->threads - 1, rows->threads, fill_rows, filling);
    PyThreadState *released = bytes > BYTES_WITH_GIL ? PyEval_SaveThread() : NULL;
    fill_rows(filling, 0);
    end_crew(&crew, NULL, NULL);
    if (released)
        PyEval_RestoreThread(released);
}

static int is_zero(const int64_t *column, size_t size)
{
    int64_t any = 0;
    for (size_t i = 0; i < size; i++)
        any |= column[i];
    return !any;
}

/* An array as numpy's binary interface has it: where its numbers are stands behind its head. */
typedef struct {
    PyObject_HEAD
    void *numbers;
} Array;

/* The type of arrays of which a buffer has shown that they are like that; to ask each for a buffer takes longer than to
   make it. */
static PyTypeObject *known_arrays;

/* An array of so many bytes, and where its numbers are, unless they are zeros already: by one of two functions that take
   a shape and a dtype, or a bytearray where there are none. */
static PyObject *new_array(PyObject *make, PyObject *shape, size_t size, int is_zero, void **numbers)
{
    Py_buffer view;
    int has_functions = PyTuple_Size(make) == 2;
    PyObject *array = has_functions ? PyObject_Call(PyTuple_GetItem(make, is_zero), shape, NULL)
                                    : PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (array && !has_functions)
        *numbers = PyByteArray_AsString(array);
    if (!array || !has_functions || is_zero)
        return array;
    if (Py_IS_TYPE(array, known_arrays)) {
        *numbers = ((Array *)array)->numbers;
        return array;
    }
    if (!PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) && (size_t)view.len == size) {
        if (view.buf == ((Array *)array)->numbers)
            known_arrays = (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(array)); /* for good */
        *numbers = view.buf; /* which is there as long as the array */
        PyBuffer_Release(&view);
        return array;
    }
    Py_DECREF(array);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

/* The arguments for a function that makes an array of so many rows; of one axis where `width` is negative. */
static PyObject *shape_of(Py_ssize_t count, Py_ssize_t width, PyObject *dtype)
{
    PyObject *rows = PyLong_FromSsize_t(count), *numbers = width < 0 ? NULL : PyLong_FromSsize_t(width);
    PyObject *axes = numbers ? PyTuple_Pack(2, rows, numbers) : PyTuple_Pack(1, rows);
    PyObject *shape = axes ? PyTuple_Pack(2, axes, dtype) : NULL;
    Py_XDECREF(rows);
    Py_XDECREF(numbers);
    Py_XDECREF(axes);
    return shape;
}

/* Put the columns into a dict as arrays of int64, (rows, width). */
static int put_arrays(Filling *filling, PyObject *dict)
{
    enum { COLUMNS_AT_HAND = 8 };
    int64_t *arrays[COLUMNS_AT_HAND] = {NULL};
    size_t count = (size_t)(filling->rows->count / filling->form.texts), size = count * filling->width * 8;
    if (filling->width > PY_SSIZE_T_MAX / 8 / count || filling->column_count > COLUMNS_AT_HAND)
        return PyErr_NoMemory(), -1;
    PyObject *shape = shape_of((Py_ssize_t)count, (Py_ssize_t)filling->width, filling->dtype);
    for (size_t i = 0; shape && i < filling->column_count; i++) {
        int zeros = is_zero(filling->columns + i * filling->column_size, filling->column_size);
        void *array_numbers = NULL;
        PyObject *array = new_array(filling->make, shape, size, zeros, &array_numbers);
        arrays[i] = array_numbers;
        if (!array || PyDict_SetItem(dict, PyTuple_GetItem(filling->names, (Py_ssize_t)i), array))
            Py_CLEAR(shape);
        Py_XDECREF(array);
    }
    filling->arrays = arrays;
    if (shape)
        fill_arrays(filling, size * filling->column_count);
    Py_XDECREF(shape);
    return shape ? 0 : -1;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Put a number so many times. Returns where it ends, or -1. */
static Py_ssize_t put_number(const Numbers *numbers, PyObject *list, Py_ssize_t at, size_t count, int64_t number)
{
    PyObject *object = count ? number_of(numbers, number) : NULL;
    if (count && !object)
        return -1;
    for (size_t i = 0; i < count; i++)
        PUT_ITEM(list, at++, Py_NewRef(object));
    Py_XDECREF(object);
    return at;
}

/* A row as a list, padded up to `filled`. */
static PyObject *list_of_row(const Filling *filling, const int64_t *column, Py_ssize_t row)
{
    const Numbers *numbers = &filling->rows->kernel->numbers;
    const int64_t texts = filling->form.texts, *special = column + 1 + texts;
    size_t length = filling->around + length_in(filling->rows, row, texts);
    size_t missing = filling->filled > length ? filling->filled - length : 0;
    if (missing > PY_SSIZE_T_MAX / sizeof(PyObject *) - length)
        return PyErr_NoMemory();
    PyObject *list = PyList_New((Py_ssize_t)(length + missing));
    Py_ssize_t at = list ? 0 : -1;
    if (at >= 0 && filling->form.pads_left)
        at = put_number(numbers, list, at, missing, column[0]);
    for (int64_t text = 0; at >= 0 && text <= texts; text++) {
        for (int64_t i = 0; at >= 0 && i < filling->form.specials[text]; i++)
            at = put_number(numbers, list, at, 1, *special++);
        if (at < 0 || text == texts)
            break;
        const Py_ssize_t of_text = row * texts + text;
        if (column[1 + text] != IDS)
            at = put_number(numbers, list, at, row_length(filling->rows, of_text), column[1 + text]);
        else
            at = put_ids(numbers, list, at, row_ids(filling->rows, of_text), row_length(filling->rows, of_text));
    }
    if (at >= 0 && !filling->form.pads_left)
        at = put_number(numbers, list, at, missing, column[0]);
    if (at < 0)
        Py_CLEAR(list);
    return list;
}

/* Put the columns into a dict as lists of lists. */
static int put_lists(const Filling *filling, PyObject *dict)
{
    Py_ssize_t count = filling->rows->count / filling->form.texts;
    for (size_t i = 0; i < filling->column_count; i++) {
        const int64_t *column = filling->columns + i * filling->column_size;
        PyObject *lists = filling->form.one ? list_of_row(filling, column, 0) : PyList_New(count);
        for (Py_ssize_t row = 0; lists && row < count && !filling->form.one; row++) {
            PyObject *list = list_of_row(filling, column, row);
            if (list)
                PUT_ITEM(lists, row, list);
            else
                Py_CLEAR(lists);
        }
        int failed = !lists || PyDict_SetItem(dict, PyTuple_GetItem(filling->names, (Py_ssize_t)i), lists);
        Py_XDECREF(lists);
        if (failed)
            return -1;
    }
    return 0;
}

/* ---- what Python calls ------------------------------------------------------------------------------------------- */

/* The columns of rows that are cut and measured. */
static PyObject *columns_of(Filling *filling)
{
    PyObject *dict = PyDict_New();
    if (dict && (filling->make == Py_None ? put_lists(filling, dict) : put_arrays(filling, dict)))
        Py_CLEAR(dict);
    return dict;
}

/* Whether all rows have one width, and there are any numbers. */
static int is_even(const Filling *filling)
{
    size_t least = filling->shortest > filling->filled ? filling->shortest : filling->filled;
    return filling->width == least && filling->width;
}

/* Whether Python has to tell of a row's length, or cut a pair. */
static int has_too_long(const Filling *filling)
{
    const Form *form = &filling->form;
    return (form->most >= 0 && filling->width > (size_t)form->most)
           || (form->room >= 0 && filling->longest - filling->around > (size_t)form->room);
}

static PyObject *Rows_columns(Rows *rows, PyObject *form)
{
    Filling filling = {.rows = &rows->all};
    if (read_form(&filling, form))
        return NULL;
    measure(&filling);
    if (rows->all.count && !(rows->all.count % filling.form.texts) && (filling.make == Py_None || is_even(&filling)))
        return columns_of(&filling);
    PyErr_SetString(PyExc_ValueError, "there are no rows, or they have several widths");
    return NULL;
}

/* The rows of texts, cut and measured. 0 for none, with an error or where Python has to do it. */
static int begin_columns(Kernel *kernel, PyObject *const *arguments, Py_ssize_t argument_count, Filling *filling,
    IdRows *rows)
{
    filling->rows = rows;
    if (argument_count != 3 || !PyTuple_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "it takes a tuple of texts, a form, and threads");
        return 0;
    }
    if (read_form(filling, arguments[1]))
        return 0;
    const Form *form = &filling->form;
    Py_ssize_t count = PyTuple_Size(arguments[0]);
    size_t room = form->texts == 1 && form->room >= 0 && !form->cuts_left ? (size_t)form->room : SIZE_MAX;
    Item *items = count && !(count % form->texts) ? items_of(arguments[0], count, 1) : NULL;
    int failed = !items || encode_rows(kernel, items, count, arguments[2], room, rows);
    give_back(items);
    if (failed)
        return 0;
    if (form->texts == 1)
        cut_rows(rows, form->room, form->cuts_left != 0);
    measure(filling);
    return 1;
}

static PyObject *Kernel_columns(Kernel *kernel, PyObject *const *arguments, Py_ssize_t argument_count)
{
    IdRows rows;
    Filling filling = {0};
    if (!begin_columns(kernel, arguments, argument_count, &filling, &rows))
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    if (has_too_long(&filling) || (filling.make != Py_None && !is_even(&filling)))
        return object_of(&rows);
    PyObject *columns = columns_of(&filling);
    free_rows(&rows);
    return columns;
}

/* Put the ids of rows one behind the other, and where each row begins; the last ends. */
static void fill_flat(const Filling *filling, int32_t *to, int32_t *offsets)
{
    const int64_t *specials = filling->columns + 2;
    const int32_t *first = to;
    for (Py_ssize_t row = 0; row < filling->rows->count; row++) {
        *offsets++ = (int32_t)(to - first);
        for (int64_t i = 0; i < filling->form.specials[0]; i++)
            *to++ = (int32_t)specials[i];
        memcpy(to, row_ids(filling->rows, row), row_length(filling->rows, row) * sizeof *to);
        to += row_length(filling->rows, row);
        for (int64_t i = filling->form.specials[0]; i < (int64_t)filling->around; i++)
            *to++ = (int32_t)specials[i];
    }
    *offsets = (int32_t)(to - first);
}

static PyObject *Kernel_flat(Kernel *kernel, PyObject *const *arguments, Py_ssize_t argument_count)
{
    IdRows rows;
    Filling filling = {0};
    if (!begin_columns(kernel, arguments, argument_count, &filling, &rows))
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    size_t total = (size_t)rows.count * filling.around;
    for (Py_ssize_t row = 0; row < rows.count; row++)
        total += row_length(&rows, row);
    if (filling.form.texts != 1 || filling.make == Py_None || total > INT32_MAX || has_too_long(&filling))
        return object_of(&rows);
    const size_t sizes[2] = {total, (size_t)rows.count + 1};
    void *numbers[2] = {NULL, NULL};
    PyObject *flat = PyTuple_New(2);
    for (int i = 0; flat && i < 2; i++) {
        PyObject *shape = shape_of((Py_ssize_t)sizes[i], -1, filling.dtype);
        PyObject *array = shape ? new_array(filling.make, shape, sizes[i] * sizeof(int32_t), 0, &numbers[i]) : NULL;
        Py_XDECREF(shape);
        if (!array || PyTuple_SetItem(flat, i, array))
            Py_CLEAR(flat);
    }
    if (flat)
        fill_flat(&filling, numbers[0], numbers[1]);
    free_rows(&rows);
    return flat;
}

#endif
