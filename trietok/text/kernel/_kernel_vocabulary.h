/* The vocabulary of a tokenizer.json: from an object token → id, in UTF-8, into a dict, where the ids are 0, 1, 2 and
   so on, and tokens are short and have no escapes but those of quotes and backslashes. All else is left to Python. */
#ifndef TRIETOK_KERNEL_VOCABULARY_H
#define TRIETOK_KERNEL_VOCABULARY_H

static const char *past_blanks(const char *at)
{
    return at + strspn(at, " \n\t");
}

/* The string whose opening quote is before `*at`, which is then behind the closing one; NULL where Python has to look. */
static PyObject *read_string(const char **at)
{
    char plain[512], *to = plain;
    const char *from = *at;
    for (; *from != '"' && (unsigned char)*from >= ' ' && to < plain + sizeof plain; *to++ = *from++)
        if (*from == '\\' && *++from != '"' && *from != '\\')
            return NULL;
    *at = from + 1;
    return *from == '"' ? PyUnicode_DecodeUTF8(plain, to - plain, NULL) : NULL;
}

/* Keep a token whose id has to be `id`. What is returned is behind both; NULL where Python has to look. */
static const char *read_entry(const char *at, PyObject *entries, Py_ssize_t id)
{
    at = past_blanks(at);
    if (*at++ != '"')
        return NULL;
    PyObject *token = read_string(&at), *number = NULL;
    if (!token)
        return NULL;
    at = past_blanks(at);
    if (*at == ':') {
        Py_ssize_t value = 0;
        const char *digits = at = past_blanks(at + 1);
        while (*at >= '0' && *at <= '9' && value <= id)
            value = 10 * value + (*at++ - '0');
        if (at > digits && value == id && (*digits != '0' || at == digits + 1))
            number = PyLong_FromSsize_t(id);
    }
    int is_kept = number && !PyDict_SetItem(entries, token, number);
    Py_DECREF(token);
    Py_XDECREF(number);
    return is_kept ? past_blanks(at) : NULL;
}

static PyObject *read_vocabulary(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *text, *entries;
    Py_ssize_t start, count = 0;
    if (!PyArg_ParseTuple(arguments, "SnO", &text, &start, &entries))
        return NULL;
    const char *at = start >= 0 && start < PyBytes_Size(text) ? PyBytes_AsString(text) + start : NULL;
    while (at && *at == (count ? ',' : '{'))
        at = read_entry(at + 1, entries, count++);
    if (at && *at == '}' && count && PyDict_Size(entries) == count) /* fewer where a token stands there twice */
        return PyLong_FromSsize_t(at + 1 - PyBytes_AsString(text));
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError))
        return NULL;
    PyErr_Clear();
    return PyLong_FromLong(-1);
}

#endif
