/* The compiled kernel: texts → ids, for what can be told of each character by itself.

   In: texts, and Python functions to ask. Out: ids, as lists or as rows in one buffer.

   The kernel knows no Unicode. It asks Python once what becomes of a code point (`classify`), and whether two that
   might compose stay apart (`stay_apart`). A chunk between spaces of which that does not tell all goes to Python
   (`hand_over`): the part of it between characters that are set apart, or all of it where an added token may reach
   further. So there is one set of rules, and Python has it. What words and handed-over chunks became is remembered.

   `_kernel_memory.h` remembers, `_kernel_pieces.h` cuts words into pieces, `_kernel_calls.h` reads texts,
   `_kernel_results.h` makes Python objects of ids, and here are the types and the module.

   Threads: a kernel's lock guards what it remembers. The lock is not held while Python is asked, so Python may call the
   kernel again; and no thread waits for it with the GIL in hand, so no two threads wait for each other. A batch is
   encoded without the GIL. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <structmember.h>

#include "_kernel_results.h"

/* ---- the kernel ---------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(info_doc, "info()\n--\n\nHow many words and chunks are remembered, in how many bytes, and more.");

static PyObject *Kernel_info(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernel(kernel, 1);
    unsigned long long words = kernel->memory.words, chunks = kernel->memory.chunks,
                       bytes = memory_bytes(&kernel->memory) + kernel->char_bytes,
                       times_full = kernel->memory.times_full, handed_over = kernel->handed_over;
    PyThread_release_lock(kernel->lock);
    return Py_BuildValue("{sKsKsKsKsK}", "words", words, "chunks", chunks, "bytes", bytes, "times_full", times_full,
        "handed_over", handed_over);
}

PyDoc_STRVAR(forget_doc, "forget()\n--\n\nForget what words and chunks became.");

static PyObject *Kernel_forget(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernel(kernel, 1);
    int failed = forget_all(&kernel->memory);
    PyThread_release_lock(kernel->lock);
    if (failed)
        return PyErr_NoMemory();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(hold_doc, "hold()\n--\n\nWait until nobody works with the kernel, and let nobody: until `release`.");

static PyObject *Kernel_hold(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernel(kernel, 1);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(release_doc, "release()\n--\n\nUndo `hold`.");

static PyObject *Kernel_release(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    PyThread_release_lock(kernel->lock);
    Py_RETURN_NONE;
}

static int Kernel_traverse(Kernel *kernel, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)kernel));
    Py_VISIT(kernel->vocabulary);
    Py_VISIT(kernel->classify);
    Py_VISIT(kernel->stay_apart);
    Py_VISIT(kernel->hand_over);
    Py_VISIT(kernel->plain);
    return 0;
}

static int Kernel_clear(Kernel *kernel)
{
    Py_CLEAR(kernel->classify);
    Py_CLEAR(kernel->stay_apart);
    Py_CLEAR(kernel->hand_over);
    Py_CLEAR(kernel->plain);
    return 0;
}

static void Kernel_dealloc(Kernel *kernel)
{
    PyTypeObject *type = Py_TYPE((PyObject *)kernel);
    PyObject_GC_UnTrack(kernel);
    if (kernel->weak_references)
        PyObject_ClearWeakRefs((PyObject *)kernel);
    Kernel_clear(kernel);
    Py_XDECREF(kernel->vocabulary);
    for (size_t i = 0; i < kernel->numbers_size; i++)
        Py_XDECREF(kernel->numbers[i]);
    for (size_t i = 0; i < PAGES; i++)
        give_back(kernel->pages[i]);
    give_back(kernel->numbers);
    give_back(kernel->outputs);
    free_memory(&kernel->memory);
    if (kernel->lock)
        PyThread_free_lock(kernel->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(kernel);
    Py_DECREF(type);
}

enum { NUMBERS_KEPT = 1 << 17, FIRST_OUTPUTS = 4096 };

static int set_up(Kernel *kernel, size_t limit, const char *seed)
{
    memcpy(kernel->memory.seed, seed, sizeof kernel->memory.seed);
    kernel->memory.seed[1] |= 1;
    kernel->limit = limit;
    kernel->lock = PyThread_allocate_lock();
    kernel->outputs = new_zeroed(FIRST_OUTPUTS, 1);
    kernel->numbers = new_zeroed(NUMBERS_KEPT, sizeof *kernel->numbers);
    if (!kernel->lock || !kernel->outputs || !kernel->numbers || forget_all(&kernel->memory))
        return -1;
    kernel->outputs_size = FIRST_OUTPUTS;
    kernel->numbers_size = NUMBERS_KEPT;
    return reserve(kernel, FIRST_OUTPUTS) ? 0 : -1;
}

PyDoc_STRVAR(kernel_doc,
    "Kernel(vocabulary, classify, stay_apart, hand_over, plain, limit, seed, /)\n--\n\n"
    "Texts to ids.\n\n"
    "Args:\n"
    "    vocabulary: a `Vocabulary`.\n"
    "    classify: code point -> (kind, combining class, flags, UTF-8 of what it becomes in a word).\n"
    "    stay_apart: two characters -> whether normalization leaves them as they are.\n"
    "    hand_over: chunk -> its ids.\n"
    "    plain: text -> the list of its ids.\n"
    "    limit: how many bytes may be remembered.\n"
    "    seed: 16 random bytes.");

static PyObject *Kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords));

/* ---- the vocabulary ------------------------------------------------------------------------------------------------ */

static int add_entries(Pieces *pieces, PyObject *entries, PyObject *ids, const char *prefix, size_t prefix_length)
{
    Py_ssize_t count = PyList_Size(entries);
    for (Py_ssize_t i = 0; i < count && i < PyList_Size(ids); i++) {
        size_t length;
        const uint8_t *entry = utf8_of(PyList_GetItem(entries, i), &length);
        long long id = PyLong_AsLongLong(PyList_GetItem(ids, i));
        if (PyErr_Occurred())
            return -1;
        if (id < 0 || id > INT32_MAX)
            return -2;
        if (!entry) /* no text of UTF-8 holds half a surrogate pair */
            continue;
        int result = add_entry(pieces, FRONT, entry, length, (int32_t)id);
        if (!result && length > prefix_length && !memcmp(entry, prefix, prefix_length))
            result = add_entry(pieces, REST, entry + prefix_length, length - prefix_length, (int32_t)id);
        if (result)
            return result;
    }
    return 0;
}

PyDoc_STRVAR(vocabulary_doc,
    "Vocabulary(entries, ids, prefix, unknown, longest_word, /)\n--\n\n"
    "The entries of a vocabulary, to cut words into. ValueError for entries or ids that are too large.");

static PyObject *Vocabulary_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    PyObject *entries, *ids;
    const char *prefix;
    Py_ssize_t prefix_length, longest_word;
    int unknown;
    if (!PyArg_ParseTuple(arguments, "O!O!s#in", &PyList_Type, &entries, &PyList_Type, &ids, &prefix, &prefix_length,
            &unknown, &longest_word))
        return NULL;
    Vocabulary *vocabulary = (Vocabulary *)PyType_GenericAlloc(type, 0);
    if (!vocabulary)
        return NULL;
    vocabulary->pieces.unknown = unknown;
    vocabulary->pieces.longest_word = longest_word < 0 ? 0 : (uint64_t)longest_word;
    int result = grow_edges(&vocabulary->pieces, (size_t)PyList_Size(entries));
    if (!result)
        result = add_entries(&vocabulary->pieces, entries, ids, prefix, (size_t)prefix_length);
    if (!result && unknown >= 0)
        return (PyObject *)vocabulary;
    Py_DECREF((PyObject *)vocabulary);
    if (PyErr_Occurred())
        return NULL;
    if (result == -1)
        return PyErr_NoMemory();
    PyErr_SetString(PyExc_ValueError, "no kernel for this vocabulary: an entry or an id is too large");
    return NULL;
}

static void Vocabulary_dealloc(Vocabulary *vocabulary)
{
    PyTypeObject *type = Py_TYPE((PyObject *)vocabulary);
    give_back(vocabulary->pieces.edges);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(vocabulary);
    Py_DECREF(type);
}

/* ---- the module ---------------------------------------------------------------------------------------------------- */

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static PyType_Slot vocabulary_slots[] = {
    {Py_tp_doc, (void *)vocabulary_doc},
    {Py_tp_new, Vocabulary_new},
    {Py_tp_dealloc, Vocabulary_dealloc},
    {0, NULL},
};
static PyType_Spec vocabulary_spec = {
    .name = "trietok.text._kernel.Vocabulary",
    .basicsize = sizeof(Vocabulary),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = vocabulary_slots,
};

static PyMethodDef rows_methods[] = {
    {"lengths", FUNCTION(Rows_lengths), METH_NOARGS, lengths_doc},
    {"cut", FUNCTION(Rows_cut), METH_VARARGS, cut_doc},
    {"lists", FUNCTION(Rows_lists), METH_VARARGS, lists_doc},
    {"int64", FUNCTION(Rows_int64), METH_VARARGS, int64_doc},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot rows_slots[] = {
    {Py_tp_methods, rows_methods},
    {Py_tp_dealloc, Rows_dealloc},
    {0, NULL},
};
static PyType_Spec rows_spec = {
    .name = "trietok.text._kernel.Rows",
    .basicsize = sizeof(Rows),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = rows_slots,
};

static PyMethodDef kernel_methods[] = {
    {"ids", FUNCTION(Kernel_ids), METH_FASTCALL, ids_doc},
    {"rows", FUNCTION(Kernel_rows), METH_O, rows_doc},
    {"info", FUNCTION(Kernel_info), METH_NOARGS, info_doc},
    {"forget", FUNCTION(Kernel_forget), METH_NOARGS, forget_doc},
    {"hold", FUNCTION(Kernel_hold), METH_NOARGS, hold_doc},
    {"release", FUNCTION(Kernel_release), METH_NOARGS, release_doc},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef kernel_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Kernel, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot kernel_slots[] = {
    {Py_tp_members, kernel_members},
    {Py_tp_doc, (void *)kernel_doc},
    {Py_tp_new, Kernel_new},
    {Py_tp_dealloc, Kernel_dealloc},
    {Py_tp_traverse, Kernel_traverse},
    {Py_tp_clear, Kernel_clear},
    {Py_tp_methods, kernel_methods},
    {0, NULL},
};
static PyType_Spec kernel_spec = {
    .name = "trietok.text._kernel.Kernel",
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

static PyObject *Kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    State *state = PyType_GetModuleState(type);
    PyObject *vocabulary, *classify, *stay_apart, *hand_over, *plain;
    const char *seed;
    Py_ssize_t seed_length, limit;
    if (!state
        || !PyArg_ParseTuple(arguments, "O!OOOOny#", state->vocabulary, &vocabulary, &classify, &stay_apart,
            &hand_over, &plain, &limit, &seed, &seed_length))
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
    kernel->hand_over = Py_NewRef(hand_over);
    kernel->plain = Py_NewRef(plain);
    if (set_up(kernel, (size_t)limit, seed)) {
        Py_DECREF((PyObject *)kernel);
        return PyErr_NoMemory();
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
    state->vocabulary = add_type(module, &vocabulary_spec);
    state->rows = state->vocabulary ? add_type(module, &rows_spec) : NULL;
    PyTypeObject *kernel = state->rows ? add_type(module, &kernel_spec) : NULL;
    Py_XDECREF((PyObject *)kernel);
    static const char *const kinds[] = {"UNASKED", "ORDINARY", "DELETED", "SPACE", "ALONE", "HAND_OVER"};
    for (int kind = 0; kernel && kind < KINDS; kind++)
        if (PyModule_AddIntConstant(module, kinds[kind], kind))
            return -1;
    return kernel ? 0 : -1;
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
    .m_name = "trietok.text._kernel",
    .m_doc = "The compiled kernel of trietok.text.chunk_encoder; see trietok.text.kernel.",
    .m_size = sizeof(State),
    .m_methods = module_functions,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&module_definition); }
