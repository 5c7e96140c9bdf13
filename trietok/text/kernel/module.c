/* The Python types of the kernel. Every argument from Python is validated here or in the functions that parse it.

   A `Vocabulary` contains the tokens of a vocabulary, a `Terms` the forms of added tokens of several words. Kernels
   can share them. A `Kernel` encodes texts. */
#include "kernel.h"

#ifndef TRIETOK_SOURCES
#define TRIETOK_SOURCES "" /* the sha256 of the sources; it shows whether a library is up to date */
#endif

enum { INTERFACE = 14 }; /* `choosing.py` refuses a library with another number */

enum { VOCABULARY, TERMS, KERNEL, TYPES };

typedef struct {
    PyTypeObject *types[TYPES];
} State;

/* Free the memory of an object. */
static void free_object(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* Set the exception for an error of `vocabulary_add`, `tree_fill` etc. */
static void raise_result(int result, const char *what)
{
    if (result == NO_MEMORY)
        PyErr_NoMemory();
    else if (result == TOO_LARGE)
        PyErr_Format(PyExc_ValueError, "no kernel for %s", what);
}

/* ---- vocabularies ------------------------------------------------------------------------------------------------ */

PyDoc_STRVAR(vocabulary_doc,
    "Vocabulary(entries, changes, prefix, unknown, longest_word, seed, /)\n--\n\n"
    "The tokens of a vocabulary, for WordPiece.\n\n"
    "Args:\n"
    "    entries: token -> id, from 0.\n"
    "    changes: other ids for some of these tokens.\n"
    "    prefix: the prefix of tokens that continue a word. None for added tokens of one word, whose ids are ignored.\n"
    "    unknown: the id of words that cannot be split.\n"
    "    longest_word: maximum length of a word in code points.\n"
    "    seed: 16 random bytes.\n\n"
    "Raises:\n"
    "    TypeError: a token is not a str, or an id is not an int.\n"
    "    OverflowError, ValueError: a token or an id is too large.");

/* Write the UTF-8 of a token, in lower case for an added token. Return its length; 0 if it contains a surrogate, as no
   word does; TOO_LARGE or PYTHON_ERROR. */
static int entry_bytes(PyObject *entry, int is_token, uint8_t *bytes)
{
    Py_UCS4 points[LONGEST_PIECE + 1]; /* asking for its UTF-8 would make the str keep a copy */
    size_t length = 0;
    if (!PyUnicode_Check(entry)) {
        PyErr_SetString(PyExc_TypeError, "no kernel for this vocabulary: a token is not a str");
        return PYTHON_ERROR;
    }
    Py_ssize_t size = PyUnicode_GetLength(entry);
    if (size > LONGEST_PIECE)
        return TOO_LARGE;
    if (size < 0 || !PyUnicode_AsUCS4(entry, points, LONGEST_PIECE + 1, 0))
        return PYTHON_ERROR;
    for (Py_ssize_t i = 0; i < size && length <= LONGEST_PIECE; i++) {
        if (points[i] >= 0xd800 && points[i] < 0xe000)
            return 0;
        int is_raised = is_token && points[i] >= 'A' && points[i] <= 'Z';
        length += put_code_point(bytes + length, is_raised ? points[i] | 32 : points[i]);
    }
    memset(bytes + length, 0, READ_AT_ONCE);
    return length > LONGEST_PIECE ? TOO_LARGE : (int)length;
}

/* Add a token and, if it has the prefix, the rest of it as a piece that continues words. */
static int add_entry(Vocabulary *vocabulary, PyObject *entry, PyObject *number, const char *prefix, size_t prefix_size)
{
    uint8_t bytes[LONGEST_PIECE + 4 + READ_AT_ONCE];
    int length = entry_bytes(entry, !prefix, bytes);
    if (length <= 0)
        return length;
    if (prefix && !PyLong_Check(number)) { /* `__index__` could change the dict */
        PyErr_SetString(PyExc_TypeError, "no kernel for this vocabulary: an id is not an int");
        return PYTHON_ERROR;
    }
    long id = prefix ? PyLong_AsLong(number) : 0;
    if (id == -1 && PyErr_Occurred())
        return PYTHON_ERROR;
    if (id < 0 || id > INT32_MAX)
        return TOO_LARGE;
    int result = vocabulary_add(vocabulary, AT_START, bytes, (size_t)length, (int32_t)id);
    if (!result && prefix && (size_t)length > prefix_size && !memcmp(bytes, prefix, prefix_size))
        result = vocabulary_add(vocabulary, INSIDE, bytes + prefix_size, (size_t)length - prefix_size, (int32_t)id);
    return result;
}

static int fill_vocabulary(Vocabulary *vocabulary, PyObject *arguments)
{
    PyObject *entries, *changes, *entry, *number;
    const char *prefix, *seed;
    Py_ssize_t prefix_size, longest_word, seed_size, at = 0;
    int unknown;
    if (!PyArg_ParseTuple(arguments, "O!O!z#iny#", &PyDict_Type, &entries, &PyDict_Type, &changes, &prefix,
            &prefix_size, &unknown, &longest_word, &seed, &seed_size))
        return PYTHON_ERROR;
    size_t count = (size_t)PyDict_Size(entries) + (size_t)PyDict_Size(changes);
    if (seed_size != sizeof vocabulary->seed || unknown < 0 || count > MOST_PIECES)
        return TOO_LARGE;
    memcpy(vocabulary->seed, seed, sizeof vocabulary->seed);
    vocabulary->seed[1] |= 1; /* a factor of hashes, which must not be 0 */
    vocabulary->unknown = unknown;
    vocabulary->longest_word = longest_word < 0 ? 0 : (uint64_t)longest_word;
    int result = vocabulary_begin(vocabulary, count);
    PyObject *const both[] = {changes, entries}; /* the first one counts */
    for (int i = 0; i < 2; i++, at = 0)
        while (!result && PyDict_Next(both[i], &at, &entry, &number))
            result = add_entry(vocabulary, entry, number, prefix, (size_t)prefix_size);
    return result ? result : vocabulary_finish(vocabulary);
}

static PyObject *Vocabulary_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    VocabularyObject *vocabulary = (VocabularyObject *)PyType_GenericAlloc(type, 0);
    int result = vocabulary ? fill_vocabulary(&vocabulary->all, arguments) : PYTHON_ERROR;
    if (!result)
        return (PyObject *)vocabulary;
    Py_XDECREF((PyObject *)vocabulary);
    raise_result(result, "this vocabulary: a token or an id is too large");
    return NULL;
}

static void Vocabulary_dealloc(VocabularyObject *vocabulary)
{
    vocabulary_free(&vocabulary->all);
    free_object((PyObject *)vocabulary);
}

static PyType_Slot vocabulary_slots[] = {
    {Py_tp_doc, (void *)vocabulary_doc},
    {Py_tp_new, Vocabulary_new},
    {Py_tp_dealloc, Vocabulary_dealloc},
    {0, NULL},
};

/* ---- terms ------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(terms_doc, "Terms(forms, /)\n--\n\n"
                        "The forms of added tokens of several words: a sorted list of unique strings.\n\n"
                        "Raises:\n"
                        "    ValueError: the list is not sorted, or too large.");

static PyObject *Terms_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    PyObject *forms;
    if (!PyArg_ParseTuple(arguments, "O!", &PyList_Type, &forms))
        return NULL;
    TermsObject *terms = (TermsObject *)PyType_GenericAlloc(type, 0);
    int result = terms ? tree_fill(&terms->all, forms) : PYTHON_ERROR;
    if (!result)
        return (PyObject *)terms;
    Py_XDECREF((PyObject *)terms);
    raise_result(result, "these terms: they are too large, or not in order");
    return NULL;
}

static void Terms_dealloc(TermsObject *terms)
{
    tree_free(&terms->all);
    free_object((PyObject *)terms);
}

static PyType_Slot terms_slots[] = {
    {Py_tp_doc, (void *)terms_doc},
    {Py_tp_new, Terms_new},
    {Py_tp_dealloc, Terms_dealloc},
    {0, NULL},
};

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(kernel_doc,
    "Kernel(vocabulary, patterns, terms, questions, folds, limit, seed, /)\n--\n\n"
    "Encodes texts.\n\n"
    "Args:\n"
    "    vocabulary: a `Vocabulary`.\n"
    "    patterns: a tuple of `Vocabulary`, with the added tokens of one word; None if there are others.\n"
    "    terms: a tuple of at most 32 `Terms`, with the added tokens of several words.\n"
    "    questions: a `Questions`.\n"
    "    folds: the result of `questions.fold` for each ASCII character, one byte; 255 for nothing.\n"
    "    limit: maximum size of all caches, from 256 KiB to 4 GiB.\n"
    "    seed: 16 random bytes.");

static const char *const question_names[QUESTIONS] = {
    "classify", "stay_apart", "compose", "ids", "steps", "fold", "settle"};

static int Kernel_traverse(Kernel *kernel, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)kernel));
    for (int i = 0; i < QUESTIONS; i++)
        Py_VISIT(kernel->questions[i]);
    return 0;
}

static int Kernel_clear(Kernel *kernel)
{
    for (int i = 0; i < QUESTIONS; i++)
        Py_CLEAR(kernel->questions[i]);
    return 0;
}

static void Kernel_dealloc(Kernel *kernel)
{
    PyObject_GC_UnTrack(kernel);
    Kernel_clear(kernel);
    Py_XDECREF(kernel->vocabulary_object);
    Py_XDECREF(kernel->patterns_object);
    Py_XDECREF(kernel->terms_object);
    for (size_t i = 0; kernel->ints && i < INTS_KEPT; i++)
        Py_XDECREF(kernel->ints[i]);
    xfree(kernel->ints);
    xfree(kernel->edges);
    pool_free(kernel, UINT64_MAX);
    free_object((PyObject *)kernel);
}

/* Take the added tokens of one word from a tuple of `Vocabulary`. Return -1 for an error. */
static int take_patterns(Kernel *kernel, PyTypeObject *type, PyObject *patterns)
{
    if (patterns == Py_None)
        return 0;
    Py_ssize_t count = PyTuple_Size(patterns);
    kernel->has_patterns = count <= MOST_VOCABULARIES; /* otherwise Python finds them */
    for (Py_ssize_t i = 0; kernel->has_patterns && i < count; i++) {
        PyObject *set = PyTuple_GetItem(patterns, i);
        if (!Py_IS_TYPE(set, type)) {
            PyErr_SetString(PyExc_TypeError, "patterns are a tuple of Vocabulary, or None");
            return -1;
        }
        const Vocabulary *tokens = &((VocabularyObject *)set)->all;
        kernel->patterns[kernel->pattern_count++] = tokens;
        if (tokens->long_count && tokens->long_lengths[0] > kernel->longest_pattern)
            kernel->longest_pattern = tokens->long_lengths[0];
    }
    return count < 0 ? -1 : 0;
}

/* Take the trees of terms. Return -1 for an error. */
static int take_terms(Kernel *kernel, PyTypeObject *type, PyObject *all)
{
    Py_ssize_t count = PyTuple_Size(all);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *terms = PyTuple_GetItem(all, i);
        if (!Py_IS_TYPE(terms, type) || count > MOST_TREES) {
            PyErr_SetString(PyExc_TypeError, "terms are a tuple of at most 32 Terms");
            return -1;
        }
        const Tree *tree = &((TermsObject *)terms)->all;
        kernel->trees[kernel->tree_count++] = tree;
        for (int byte = 0; byte < 256; byte++) {
            kernel->is_in_head[byte] |= tree->is_in_head[byte];
            kernel->ends_head[byte] |= tree->ends_head[byte];
        }
    }
    if (count && edges_fill(kernel))
        return PyErr_NoMemory(), -1;
    return 0;
}

static int take_questions(Kernel *kernel, PyObject *questions)
{
    for (int i = 0; i < QUESTIONS; i++)
        if (!(kernel->questions[i] = PyObject_GetAttrString(questions, question_names[i])))
            return -1;
    return 0;
}

static int fill_kernel(Kernel *kernel, const State *state, PyObject *arguments)
{
    PyObject *vocabulary, *patterns, *terms, *questions;
    const char *seed, *folds;
    Py_ssize_t seed_size, folds_size, limit;
    if (!PyArg_ParseTuple(arguments, "O!OO!Oy#ny#", state->types[VOCABULARY], &vocabulary, &patterns, &PyTuple_Type,
            &terms, &questions, &folds, &folds_size, &limit, &seed, &seed_size))
        return -1;
    if (seed_size != sizeof kernel->seed || folds_size != sizeof kernel->folds || limit < LEAST_LIMIT
        || (size_t)limit > UINT32_MAX) {
        PyErr_SetString(
            PyExc_ValueError, "a kernel needs 16 bytes of seed, 128 folds, and a limit from 256 KiB to 4 GiB");
        return -1;
    }
    kernel->vocabulary_object = Py_NewRef(vocabulary);
    kernel->patterns_object = Py_NewRef(patterns);
    kernel->terms_object = Py_NewRef(terms);
    kernel->vocabulary = &((VocabularyObject *)vocabulary)->all;
    memcpy(kernel->seed, seed, sizeof kernel->seed);
    memcpy(kernel->folds, folds, sizeof kernel->folds);
    kernel->seed[1] |= 1; /* a factor of hashes, which must not be 0 */
    kernel->limit = limit;
    shared_add(&kernel->budget, limit);
    kernel->ints = xcalloc(INTS_KEPT, sizeof *kernel->ints);
    if (!kernel->ints)
        return PyErr_NoMemory(), -1;
    return take_questions(kernel, questions) || take_patterns(kernel, state->types[VOCABULARY], patterns)
                   || take_terms(kernel, state->types[TERMS], terms)
               ? -1
               : 0;
}

static PyObject *Kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    State *state = PyType_GetModuleState(type);
    Kernel *kernel = state ? (Kernel *)PyType_GenericAlloc(type, 0) : NULL;
    if (kernel && fill_kernel(kernel, state, arguments))
        Py_CLEAR(kernel);
    return (PyObject *)kernel;
}

/* The words and chunks in the caches of free workers, and the bytes of all workers. */
static PyObject *Kernel_info(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    unsigned long long words = 0, chunks = 0;
    for (const Worker *worker = kernel->pool; worker; worker = worker->next) {
        words += worker->cache.counts[KEY_WORD];
        chunks += worker->cache.counts[KEY_CHUNK];
    }
    return Py_BuildValue("{sKsKsLsLsL}", "words", words, "chunks", chunks, "bytes",
        kernel->limit - shared_get(&kernel->budget), "times_full", shared_get(&kernel->times_full), "helped",
        kernel->helped);
}

static PyObject *Kernel_forget(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    kernel->forgotten++; /* workers in use are cleared when they are taken again */
    for (Worker *worker = kernel->pool; worker; worker = worker->next)
        cache_forget(worker);
    Py_RETURN_NONE;
}

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef kernel_methods[] = {
    {"ids", FUNCTION(kernel_ids), METH_FASTCALL,
        "ids(text, front=[], back=[], /)\n--\n\nThe ids of a text, between those of two lists."},
    {"spans", FUNCTION(kernel_spans), METH_O,
        "spans(text, /)\n--\n\n"
        "The spans of the tokens of a text; None if the kernel cannot encode the text.\n\n"
        "If characters follow the last token of a chunk, an empty span ends the chunk."},
    {"columns", FUNCTION(kernel_columns), METH_FASTCALL,
        "columns(texts, form, threads, /)\n--\n\n"
        "The columns of a tuple of texts, as a `Form` says, and the width of the longest row.\n\n"
        "None if there are no texts, if one is not a str, if a pair must be truncated, or if arrays would have rows of\n"
        "different widths. `threads` returns the maximum number of threads; None for one thread."},
    {"flat", FUNCTION(kernel_flat), METH_VARARGS,
        "flat(texts, threads, room, from_left, front, back, /)\n--\n\n"
        "The number of ids of each text, and the ids of all texts in one run, as bytearrays of int32.\n\n"
        "Each text is truncated to `room` ids (-1 for no limit), from the left or the right. `front` and `back` are bytes\n"
        "of int32, which are put around its ids. For threads see `columns`."},
    {"flat_between", FUNCTION(kernel_flat_between), METH_VARARGS,
        "flat_between(data, offsets, first, count, threads, room, from_left, front, back, /)\n--\n\n"
        "The same as `flat` for `count` texts in a buffer of UTF-8, between int64 offsets from number `first`.\n\n"
        "None if the data is not valid UTF-8. The buffers must not change during the call."},
    {"info", FUNCTION(Kernel_info), METH_NOARGS, "info()\n--\n\nThe number of cached words and chunks, and more."},
    {"forget", FUNCTION(Kernel_forget), METH_NOARGS, "forget()\n--\n\nClear the caches."},
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

/* ---- the module -------------------------------------------------------------------------------------------------- */

#define NAME "trietok.text.kernel._kernel"
#define PLAIN_TYPE (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE)

static PyType_Spec specs[TYPES] = {
    {NAME ".Vocabulary", sizeof(VocabularyObject), 0, PLAIN_TYPE, vocabulary_slots},
    {NAME ".Terms", sizeof(TermsObject), 0, PLAIN_TYPE, terms_slots},
    {NAME ".Kernel", sizeof(Kernel), 0, PLAIN_TYPE | Py_TPFLAGS_HAVE_GC, kernel_slots},
};

#ifdef TRIETOK_FAILING_ALLOCATOR
extern Shared allocations_until_failure, allocations_alive;

static PyObject *fail_allocation(PyObject *Py_UNUSED(module), PyObject *number)
{
    long long before = shared_get(&allocations_until_failure);
    shared_add(&allocations_until_failure, PyLong_AsLongLong(number) - before);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(before);
}

static PyObject *count_alive(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromLongLong(shared_get(&allocations_alive));
}
#endif

static PyMethodDef module_functions[] = {
    {"note_fork", note_fork, METH_NOARGS,
        "note_fork()\n--\n\nMust be called in each child of a fork, before anything else."},
#ifdef TRIETOK_FAILING_ALLOCATOR
    {"fail_allocation", fail_allocation, METH_O,
        "Let one allocation fail, after this number of others, or none (-1). Return the number left, -1 after a failure."},
    {"count_alive", count_alive, METH_NOARGS, "How many allocations have not been given back."},
#endif
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    for (int i = 0; i < TYPES; i++) {
        state->types[i] = (PyTypeObject *)PyType_FromModuleAndSpec(module, &specs[i], NULL);
        if (!state->types[i] || PyModule_AddType(module, state->types[i]))
            return -1;
    }
    return PyModule_AddIntConstant(module, "INTERFACE", INTERFACE)
                   || PyModule_AddStringConstant(module, "SOURCES", TRIETOK_SOURCES)
               ? -1
               : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    for (int i = 0; state && i < TYPES; i++)
        Py_VISIT(state->types[i]);
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    for (int i = 0; state && i < TYPES; i++)
        Py_CLEAR(state->types[i]);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = NAME,
    .m_doc = "The compiled kernel of trietok.text.pipeline; see trietok.text.kernel.choosing.",
    .m_size = sizeof(State),
    .m_methods = module_functions,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&module_definition); }
