/* The compiled kernel: texts → ids, for what can be told of each character by itself.

   In: texts, and Python functions to ask. Out: ids, as lists or as rows in one buffer.

   The kernel knows no Unicode. It asks Python once what becomes of a code point (`classify`), and whether two that
   might compose stay apart (`stay_apart`). A chunk between spaces of which that does not tell all goes to Python
   (`hand_over`): the part of it between characters that are set apart, or all of it where an added token may reach
   further. So there is one set of rules, and Python has it. What words and handed-over chunks became is remembered.

   `_kernel_platform.h` has what compilers and systems differ in, `_kernel_memory.h` remembers, `_kernel_pieces.h` cuts
   words into pieces, `_kernel_state.h` is a kernel and a call to it, `_kernel_characters.h` asks what becomes of
   characters, `_kernel_texts.h` reads texts, `_kernel_results.h` and `_kernel_rows.h` make Python objects of ids, and
   here are the types and the module. */
#define PY_SSIZE_T_CLEAN
#ifndef TRIETOK_FULL_API /* for one version of Python; see `build.py` */
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "_kernel_rows.h"

#ifndef TRIETOK_SOURCES
#define TRIETOK_SOURCES "" /* the sha256 of these files, which tells what a library was made of */
#endif

/* ---- the kernel ---------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(info_doc, "info()\n--\n\nHow many words and chunks are remembered, in how many bytes, and more.");

static PyObject *Kernel_info(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernel(kernel, 1);
    const Store *store = table_of(&kernel->memory)->store;
    unsigned long long words = store->words, chunks = store->chunks, spans = store->steps,
                       bytes = memory_bytes(&kernel->memory) + kernel->char_bytes,
                       times_full = kernel->memory.times_full, handed_over = kernel->handed_over;
    unlock_kernel(kernel);
    return Py_BuildValue("{sKsKsKsKsKsK}", "words", words, "chunks", chunks, "spans", spans, "bytes", bytes, "times_full",
        times_full, "handed_over", handed_over);
}

PyDoc_STRVAR(forget_doc, "forget()\n--\n\nForget what words and chunks became.");

static PyObject *Kernel_forget(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernel(kernel, 1);
    int failed = forget_all(&kernel->memory);
    sweep(kernel);
    unlock_kernel(kernel);
    if (failed)
        return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* ---- forks --------------------------------------------------------------------------------------------------------- */

/* A fork copies the kernels as they are, be one in the middle of a change by another thread. So it waits until nothing is
   written into any, and lets nothing be: its hooks are functions of C, in which no signal is looked for. */
static Kernel *first_kernel;
static Lock forking; /* one thread at a time */

static void enlist_kernel(Kernel *kernel)
{
    kernel->next = first_kernel;
    if (first_kernel)
        first_kernel->before = kernel;
    first_kernel = kernel;
}

static void delist_kernel(Kernel *kernel)
{
    if (kernel->next)
        kernel->next->before = kernel->before;
    if (kernel->before)
        kernel->before->next = kernel->next;
    else if (first_kernel == kernel)
        first_kernel = kernel->next;
}

/* A kernel that is held by a fork, or that is not; NULL for none. */
static Kernel *kernel_that(int is_held)
{
    Kernel *kernel = first_kernel;
    while (kernel && kernel->is_held != is_held)
        kernel = kernel->next;
    return kernel;
}

PyDoc_STRVAR(hold_doc, "hold_kernels()\n--\n\nBefore a fork: wait until nothing is written into any kernel.");

static PyObject *hold_kernels(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    lock_patiently(&forking, 1);
    for (Kernel *kernel; (kernel = kernel_that(0));) { /* others may come and go while one is waited for */
        Py_INCREF((PyObject *)kernel);
        lock_kernel(kernel, 1);
        kernel->is_held = 1;
    }
    Py_RETURN_NONE;
}

static PyObject *let_kernels_go(int in_child)
{
    for (Kernel *kernel; (kernel = kernel_that(1));) {
        kernel->is_held = 0;
        for (size_t i = 0; in_child && i < kernel->readers_size; i++)
            if (kernel->readers[i].thread != PyThread_get_thread_ident())
                kernel->readers[i].epoch = 0;
        unlock_kernel(kernel);
        Py_DECREF((PyObject *)kernel);
    }
    unlock(&forking);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(parent_doc, "release_in_parent()\n--\n\nAfter a fork: undo `hold_kernels`.");

static PyObject *release_in_parent(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return let_kernels_go(0);
}

PyDoc_STRVAR(child_doc, "release_in_child()\n--\n\nThe same in the child, which has none of the other threads.");

static PyObject *release_in_child(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return let_kernels_go(1);
}

PyDoc_STRVAR(alive_doc, "count_kernels()\n--\n\nHow many kernels there are.");

static PyObject *count_kernels(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    long count = 0;
    for (const Kernel *kernel = first_kernel; kernel; kernel = kernel->next)
        count++;
    return PyLong_FromLong(count);
}

/* ---- the object ---------------------------------------------------------------------------------------------------- */

static int Kernel_traverse(Kernel *kernel, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)kernel));
    Py_VISIT(kernel->vocabulary);
    Py_VISIT(kernel->classify);
    Py_VISIT(kernel->stay_apart);
    Py_VISIT(kernel->compose);
    Py_VISIT(kernel->hand_over);
    Py_VISIT(kernel->plain);
    Py_VISIT(kernel->steps);
    Py_VISIT(kernel->patterns);
    return 0;
}

static int Kernel_clear(Kernel *kernel)
{
    Py_CLEAR(kernel->classify);
    Py_CLEAR(kernel->stay_apart);
    Py_CLEAR(kernel->compose);
    Py_CLEAR(kernel->hand_over);
    Py_CLEAR(kernel->plain);
    Py_CLEAR(kernel->steps);
    return 0;
}

static void Kernel_dealloc(Kernel *kernel)
{
    PyTypeObject *type = Py_TYPE((PyObject *)kernel);
    PyObject_GC_UnTrack(kernel);
    delist_kernel(kernel);
    Kernel_clear(kernel);
    Py_XDECREF(kernel->vocabulary);
    Py_XDECREF(kernel->patterns);
    for (size_t i = 0; i < kernel->numbers_size; i++)
        Py_XDECREF(kernel->numbers[i]);
    for (size_t i = 0; i < PAGES; i++)
        give_back(atomic_load_explicit(&kernel->pages[i], memory_order_relaxed));
    for (size_t i = 0; i < OUTPUT_BLOCKS; i++)
        give_back(kernel->outputs[i]);
    give_back(kernel->numbers);
    give_back(kernel->readers);
    free_memory(&kernel->memory);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(kernel);
    Py_DECREF(type);
}

enum { NUMBERS_KEPT = 1 << 17 };

static int set_up(Kernel *kernel, size_t limit, const char *seed)
{
    memcpy(kernel->memory.seed, seed, sizeof kernel->memory.seed);
    kernel->memory.seed[1] |= 1;
    kernel->memory.limit = kernel->limit = limit;
    atomic_store_explicit(&kernel->memory.epoch, 1, memory_order_relaxed);
    for (int byte = 0; byte < 256; byte++)
        atomic_store_explicit(&kernel->follow[byte], byte == ' ' ? CHUNK_ENDS : LOOK_CLOSER, memory_order_relaxed);
    if (kernel->alone_first >= FIRST_CHINESE && kernel->alone_first <= kernel->alone_last && kernel->alone_last <= LAST_CHINESE)
        kernel->chinese_count = kernel->alone_last - kernel->alone_first + 1;
    kernel->numbers = new_zeroed(NUMBERS_KEPT, sizeof *kernel->numbers);
    kernel->readers = new_zeroed(FIRST_READERS, sizeof *kernel->readers);
    if (!kernel->numbers || !kernel->readers || forget_all(&kernel->memory))
        return -1;
    kernel->numbers_size = NUMBERS_KEPT;
    kernel->readers_size = FIRST_READERS;
    return 0;
}

PyDoc_STRVAR(kernel_doc,
    "Kernel(vocabulary, classify, stay_apart, compose, hand_over, plain, steps, patterns, alone, limit, seed, /)\n--\n\n"
    "Texts to ids.\n\n"
    "Args:\n"
    "    vocabulary: a `Vocabulary`.\n"
    "    classify: code point -> (kind, combining class, flags, UTF-8 of what it becomes in a word).\n"
    "    stay_apart: two characters -> whether normalization leaves them as they are.\n"
    "    compose: a part of a chunk -> its composed form, which has the same ids; None where there is none.\n"
    "    hand_over: chunk -> its ids; None where its text has to go the plain way.\n"
    "    plain: text -> the list of its ids.\n"
    "    steps: chunk -> the steps from its bounds to the next.\n"
    "    patterns: a tuple of a few `Vocabulary`, of all that added tokens look like; None where that is not known.\n"
    "    alone: the first and the last of the code points that are set between spaces and become themselves.\n"
    "    limit: how many bytes may be remembered.\n"
    "    seed: 16 random bytes.");

static PyObject *Kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords));

/* ---- the vocabulary ------------------------------------------------------------------------------------------------ */

enum { PLAIN_ERROR = -3 };

/* An entry as bytes, with more behind them. */
typedef struct {
    uint8_t bytes[LONGEST_PIECE + READ_AT_ONCE];
    size_t length; /* 0 for what no word is: it has a line end, or half of a surrogate pair */
} Line;

/* Read a str without its UTF-8, which it would keep: most entries will never be asked for it again. */
static int read_line(PyObject *text, Line *line)
{
    Py_UCS4 points[LONGEST_PIECE + 1];
    Py_ssize_t count = PyUnicode_Check(text) ? PyUnicode_GetLength(text) : LONGEST_PIECE + 1;
    if (count > LONGEST_PIECE)
        return TOO_LARGE;
    if (!PyUnicode_AsUCS4(text, points, LONGEST_PIECE + 1, 0))
        return PLAIN_ERROR;
    size_t length = line->length = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (points[i] == '\n' || (points[i] >= 0xd800 && points[i] < 0xe000))
            return 0;
        if (length + 4 > LONGEST_PIECE)
            return TOO_LARGE;
        length += put_code_point(line->bytes + length, points[i]);
    }
    memset(line->bytes + length, 0, READ_AT_ONCE);
    line->length = length;
    return 0;
}

/* Add an entry of a dict, once as it is and, without its prefix, once for the rests of words; a pattern, which has no
   prefix, in lower case. */
static int add_line(Pieces *pieces, Line *line, PyObject *number, const char *prefix, size_t prefix_size)
{
    if (!prefix) {
        for (size_t i = 0; i < line->length; i++)
            line->bytes[i] |= line->bytes[i] >= 'A' && line->bytes[i] <= 'Z' ? 32 : 0;
        return add_piece(pieces, FRONT, line->bytes, line->length, 0);
    }
    long id = PyLong_AsLong(number);
    if (id == -1 && PyErr_Occurred())
        return PLAIN_ERROR;
    if (id < 0 || id > INT32_MAX)
        return TOO_LARGE;
    int result = add_piece(pieces, FRONT, line->bytes, line->length, (int32_t)id);
    if (!result && line->length > prefix_size && !memcmp(line->bytes, prefix, prefix_size))
        result = add_piece(pieces, REST, line->bytes + prefix_size, line->length - prefix_size, (int32_t)id);
    return result;
}

PyDoc_STRVAR(vocabulary_doc,
    "Vocabulary(entries, prefix, unknown, longest_word, seed, /)\n--\n\n"
    "The entries of a vocabulary, to cut words into: a dict of their ids.\n\n"
    "With None as prefix, what added tokens look like: the ids do not matter. Those that no text can hold are left out.\n"
    "ValueError for entries or ids that are too large.");

static int fill_vocabulary(Vocabulary *vocabulary, PyObject *arguments)
{
    Pieces *pieces = &vocabulary->pieces;
    PyObject *entries, *entry, *number;
    const char *prefix, *seed;
    Py_ssize_t prefix_size, longest_word, seed_size, at = 0;
    Line line;
    int unknown;
    if (!PyArg_ParseTuple(arguments, "O!z#iny#", &PyDict_Type, &entries, &prefix, &prefix_size, &unknown, &longest_word,
            &seed, &seed_size))
        return PLAIN_ERROR;
    size_t count = (size_t)PyDict_Size(entries);
    if (seed_size != sizeof pieces->seed || unknown < 0 || count > MOST_ENTRIES)
        return TOO_LARGE;
    memcpy(pieces->seed, seed, sizeof pieces->seed);
    pieces->seed[1] |= 1;
    pieces->unknown = unknown;
    pieces->longest_word = longest_word < 0 ? 0 : (uint64_t)longest_word;
    int result = make_pieces(pieces, count);
    while (!result && PyDict_Next(entries, &at, &entry, &number)) {
        result = read_line(entry, &line);
        if (!result && line.length)
            result = add_line(pieces, &line, number, prefix, (size_t)prefix_size);
    }
    if (!result)
        result = place_pieces(pieces);
    return result ? result : make_tables(pieces, prefix != NULL);
}

static PyObject *Vocabulary_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    Vocabulary *vocabulary = (Vocabulary *)PyType_GenericAlloc(type, 0);
    if (!vocabulary)
        return NULL;
    int result = fill_vocabulary(vocabulary, arguments);
    if (!result)
        return (PyObject *)vocabulary;
    Py_DECREF((PyObject *)vocabulary);
    if (result == NO_MEMORY)
        PyErr_NoMemory();
    else if (result == TOO_LARGE)
        PyErr_SetString(PyExc_ValueError, "no kernel for this vocabulary: an entry or an id is too large");
    return NULL;
}

PyDoc_STRVAR(vocabulary_ids_doc,
    "ids(word, /)\n--\n\nThe ids of a word's pieces, as a list; None for a word that the kernel cannot read.");

static PyObject *Vocabulary_ids(Vocabulary *vocabulary, PyObject *word)
{
    size_t size;
    const uint8_t *bytes = utf8_of(word, &size);
    if (!bytes && PyErr_Occurred())
        return NULL;
    if (!bytes || !size)
        Py_RETURN_NONE;
    int32_t *ids = resized(NULL, size * sizeof *ids);
    uint8_t *copy = resized(NULL, size + READ_AT_ONCE);
    PyObject *list = NULL;
    if (ids && copy) {
        memcpy(copy, bytes, size);
        memset(copy + size, 0, READ_AT_ONCE);
        size_t count = ids_of_word(&vocabulary->pieces, copy, size, (size_t)PyUnicode_GetLength(word), ids);
        list = PyList_New((Py_ssize_t)count);
        for (size_t i = 0; list && i < count; i++) {
            PyObject *number = PyLong_FromLong(ids[i]);
            if (number)
                PyList_SetItem(list, (Py_ssize_t)i, number);
            else
                Py_CLEAR(list);
        }
    } else {
        PyErr_NoMemory();
    }
    give_back(ids);
    give_back(copy);
    return list;
}

static void Vocabulary_dealloc(Vocabulary *vocabulary)
{
    PyTypeObject *type = Py_TYPE((PyObject *)vocabulary);
    free_pieces(&vocabulary->pieces);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(vocabulary);
    Py_DECREF(type);
}

/* ---- the module ---------------------------------------------------------------------------------------------------- */

/* Of what `chosen.py` relies on: it takes no library with another number. */
enum { INTERFACE = 2 };

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef vocabulary_methods[] = {
    {"ids", FUNCTION(Vocabulary_ids), METH_O, vocabulary_ids_doc},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot vocabulary_slots[] = {
    {Py_tp_doc, (void *)vocabulary_doc},
    {Py_tp_methods, vocabulary_methods},
    {Py_tp_new, Vocabulary_new},
    {Py_tp_dealloc, Vocabulary_dealloc},
    {0, NULL},
};
static PyType_Spec vocabulary_spec = {
    .name = "trietok.text.kernel._kernel.Vocabulary",
    .basicsize = sizeof(Vocabulary),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = vocabulary_slots,
};

static PyMethodDef rows_methods[] = {
    {"lengths", FUNCTION(Rows_lengths), METH_NOARGS, lengths_doc},
    {"int32_lengths", FUNCTION(Rows_int32_lengths), METH_VARARGS, int32_lengths_doc},
    {"cut", FUNCTION(Rows_cut), METH_VARARGS, cut_doc},
    {"lists", FUNCTION(Rows_lists), METH_VARARGS, lists_doc},
    {"int64", FUNCTION(Rows_int64), METH_VARARGS, int64_doc},
    {"int32", FUNCTION(Rows_int32), METH_VARARGS, int32_doc},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot rows_slots[] = {
    {Py_tp_methods, rows_methods},
    {Py_tp_dealloc, Rows_dealloc},
    {0, NULL},
};
static PyType_Spec rows_spec = {
    .name = "trietok.text.kernel._kernel.Rows",
    .basicsize = sizeof(Rows),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = rows_slots,
};

static PyMethodDef kernel_methods[] = {
    {"ids", FUNCTION(Kernel_ids), METH_FASTCALL, ids_doc},
    {"rows", FUNCTION(Kernel_rows), METH_O, rows_doc},
    {"rows_between", FUNCTION(Kernel_rows_between), METH_VARARGS, rows_between_doc},
    {"spans", FUNCTION(Kernel_spans), METH_O, spans_doc},
    {"info", FUNCTION(Kernel_info), METH_NOARGS, info_doc},
    {"forget", FUNCTION(Kernel_forget), METH_NOARGS, forget_doc},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, (void *)kernel_doc},
    {Py_tp_new, Kernel_new},
    {Py_tp_dealloc, Kernel_dealloc},
    {Py_tp_traverse, Kernel_traverse},
    {Py_tp_clear, Kernel_clear},
    {Py_tp_methods, kernel_methods},
    {0, NULL},
};
static PyType_Spec kernel_spec = {
    .name = "trietok.text.kernel._kernel.Kernel",
    .basicsize = sizeof(Kernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = kernel_slots,
};

typedef struct {
    PyTypeObject *vocabulary, *rows;
} State;

static PyTypeObject *type_of_rows(PyObject *kernel)
{
    State *state = PyType_GetModuleState(Py_TYPE(kernel));
    return state ? state->rows : NULL;
}

/* Take what added tokens look like from a tuple of `Vocabulary`. */
static int take_patterns(Kernel *kernel, PyTypeObject *vocabulary, PyObject *patterns)
{
    kernel->patterns = Py_NewRef(patterns);
    if (patterns == Py_None)
        return 0;
    kernel->pattern_count = PyTuple_Check(patterns) ? (size_t)PyTuple_Size(patterns) : MOST_PATTERNS + 1;
    for (size_t i = 0; i < kernel->pattern_count; i++) {
        PyObject *set = i < MOST_PATTERNS ? PyTuple_GetItem(patterns, (Py_ssize_t)i) : NULL;
        if (!set || !Py_IS_TYPE(set, vocabulary)) {
            PyErr_SetString(PyExc_TypeError, "patterns are a tuple of at most 16 Vocabulary, or None");
            return -1;
        }
        kernel->pattern_sets[i] = &((Vocabulary *)set)->pieces;
    }
    kernel->has_patterns = 1;
    return 0;
}

static PyObject *Kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    State *state = PyType_GetModuleState(type);
    PyObject *vocabulary, *classify, *stay_apart, *compose, *hand_over, *plain, *steps, *patterns;
    const char *seed;
    Py_ssize_t seed_length, limit;
    unsigned int alone_first, alone_last;
    if (!state
        || !PyArg_ParseTuple(arguments, "O!OOOOOOO(II)ny#", state->vocabulary, &vocabulary, &classify, &stay_apart,
            &compose, &hand_over, &plain, &steps, &patterns, &alone_first, &alone_last, &limit, &seed, &seed_length))
        return NULL;
    if (seed_length != 16 || limit < LEAST_LIMIT || (size_t)limit > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "a seed has 16 bytes, and a limit is from 256 KiB to 4 GiB");
        return NULL;
    }
    Kernel *kernel = (Kernel *)PyType_GenericAlloc(type, 0);
    if (!kernel)
        return NULL;
    kernel->vocabulary = Py_NewRef(vocabulary);
    kernel->classify = Py_NewRef(classify);
    kernel->stay_apart = Py_NewRef(stay_apart);
    kernel->compose = Py_NewRef(compose);
    kernel->hand_over = Py_NewRef(hand_over);
    kernel->plain = Py_NewRef(plain);
    kernel->steps = Py_NewRef(steps);
    kernel->alone_first = alone_first;
    kernel->alone_last = alone_last;
    if (set_up(kernel, (size_t)limit, seed)) {
        Py_DECREF((PyObject *)kernel);
        return PyErr_NoMemory();
    }
    enlist_kernel(kernel);
    if (take_patterns(kernel, state->vocabulary, patterns)) {
        Py_DECREF((PyObject *)kernel);
        return NULL;
    }
    return (PyObject *)kernel;
}

#ifdef TRIETOK_FAILING_ALLOCATOR
static PyObject *fail_allocation(PyObject *Py_UNUSED(module), PyObject *number)
{
    allocations_until_failure = PyLong_AsLongLong(number);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *count_alive(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromLongLong(allocations_alive);
}
#endif

static PyMethodDef module_functions[] = {
    {"hold_kernels", hold_kernels, METH_NOARGS, hold_doc},
    {"release_in_parent", release_in_parent, METH_NOARGS, parent_doc},
    {"release_in_child", release_in_child, METH_NOARGS, child_doc},
    {"count_kernels", count_kernels, METH_NOARGS, alive_doc},
#ifdef TRIETOK_FAILING_ALLOCATOR
    {"fail_allocation", fail_allocation, METH_O, "Let an allocation fail once, after so many; -1 for none."},
    {"count_alive", count_alive, METH_NOARGS, "How many allocations have not been given back."},
#endif
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddType(module, type))
        Py_CLEAR(type);
    return type;
}

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if (PyModule_AddIntConstant(module, "INTERFACE", INTERFACE))
        return -1;
    state->vocabulary = add_type(module, &vocabulary_spec);
    state->rows = state->vocabulary ? add_type(module, &rows_spec) : NULL;
    PyTypeObject *kernel = state->rows ? add_type(module, &kernel_spec) : NULL;
    Py_XDECREF((PyObject *)kernel);
    static const char *const kinds[] = {"UNASKED", "ORDINARY", "DELETED", "SPACE", "ALONE", "HAND_OVER"};
    for (int kind = 0; kernel && kind < KINDS; kind++)
        if (PyModule_AddIntConstant(module, kinds[kind], kind))
            return -1;
    return kernel ? PyModule_AddStringConstant(module, "SOURCES", TRIETOK_SOURCES) : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    if (state) {
        Py_VISIT(state->vocabulary);
        Py_VISIT(state->rows);
    }
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if (state) {
        Py_CLEAR(state->vocabulary);
        Py_CLEAR(state->rows);
    }
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "trietok.text.kernel._kernel",
    .m_doc = "The compiled kernel of trietok.text.chunk_encoder; see trietok.text.kernel.chosen.",
    .m_size = sizeof(State),
    .m_methods = module_functions,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&module_definition); }
