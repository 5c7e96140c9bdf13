/* The compiled kernel: texts → ids, for what can be told of each character by itself.

   In: texts, and Python functions to ask. Out: ids, as lists or as rows in one buffer.

   The kernel knows no Unicode. It asks Python once what becomes of code points (`classify`), and whether two that might
   compose stay apart (`stay_apart`). A chunk between spaces of which that does not tell all goes to Python
   (`hand_over`): the part of it between characters that are set apart, or all of it where an added token may reach
   further. Added tokens in printable ASCII it finds itself, and asks for their ids (`settle`). So there is one set of
   rules, and Python has it. What words and handed-over chunks became is remembered.

   `_kernel_platform.h` has what compilers and systems differ in, `_kernel_memory.h` remembers, `_kernel_pieces.h` cuts
   words into pieces, `_kernel_state.h` is a kernel and a call to it, `_kernel_characters.h` asks what becomes of
   characters, `_kernel_terms.h` has added tokens of several words, `_kernel_chunks.h` reads chunks, `_kernel_texts.h`
   texts, `_kernel_results.h`, `_kernel_rows.h` and `_kernel_columns.h` make Python objects of ids, `_kernel_crew.h` has
   threads that help with many, and here are the types and the module. */
#define PY_SSIZE_T_CLEAN
#ifndef TRIETOK_FULL_API /* for one version of Python; see `build.py` */
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "_kernel_columns.h"
#include "_kernel_merging.h"

#ifndef TRIETOK_SOURCES
#define TRIETOK_SOURCES "" /* the sha256 of these files, which tells what a library was made of */
#endif

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static PyObject *Kernel_info(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernels(1);
    const Store *store = table_of(&kernel->memory)->store;
    unsigned long long words = store->counts[WORD], chunks = store->counts[CHUNK], spans = store->counts[STEPS],
                       bytes = memory_bytes(&kernel->memory) + kernel->char_bytes,
                       times_full = kernel->memory.times_full, handed_over = kernel->handed_over,
                       helped = atomic_load(&kernel->helped);
    unlock_kernels();
    return Py_BuildValue("{sKsKsKsKsKsKsK}", "words", words, "chunks", chunks, "spans", spans, "bytes", bytes,
        "times_full", times_full, "handed_over", handed_over, "helped", helped);
}

static PyObject *Kernel_forget(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernels(1);
    int failed = forget_all(&kernel->memory);
    sweep(kernel);
    unlock_kernels();
    return failed ? PyErr_NoMemory() : Py_NewRef(Py_None);
}

/* ---- forks ------------------------------------------------------------------------------------------------------- */

/* A fork copies the kernels as they are, be one in the middle of a change by another thread. So it waits until nothing
   is written into any, and lets nothing be. The system does this, not Python's `os.register_at_fork`: between its hooks
   and the fork come those of the program, which may encode, or wait for a thread that does. */
static void hold_kernels(void) { lock_kernels(0); }

static void release_in_child(void)
{
    atomic_fetch_add(&forks, 1);
    atomic_store(&at_work, 0);
    for (Kernel *kernel = first_kernel; kernel; kernel = kernel->next)
        for (size_t i = 0; i < kernel->readers_size; i++)
            if (kernel->readers[i].thread != PyThread_get_thread_ident()) /* whose call ends in the parent only */
                kernel->readers[i].epoch = 0;
    unlock_kernels();
}

static PyObject *count_kernels(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    long count = 0;
    for (const Kernel *kernel = first_kernel; kernel; kernel = kernel->next)
        count++;
    return PyLong_FromLong(count);
}

/* ---- the object -------------------------------------------------------------------------------------------------- */

static int Kernel_traverse(Kernel *kernel, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)kernel));
    for (int i = 0; i < KERNEL_OBJECTS; i++)
        Py_VISIT(kernel->objects[i]);
    return 0;
}

static int Kernel_clear(Kernel *kernel)
{
    for (int i = 3; i < KERNEL_OBJECTS; i++) /* the first three lead to nothing, and calls may read them */
        Py_CLEAR(kernel->objects[i]);
    return 0;
}

static void Kernel_dealloc(Kernel *kernel)
{
    PyTypeObject *type = Py_TYPE((PyObject *)kernel);
    PyObject_GC_UnTrack(kernel);
    Kernel **link = &first_kernel;
    while (*link && *link != kernel)
        link = &(*link)->next;
    if (*link)
        *link = kernel->next;
    Kernel_clear(kernel);
    Py_XDECREF(kernel->vocabulary);
    Py_XDECREF(kernel->patterns);
    Py_XDECREF(kernel->terms);
    for (size_t i = 0; i < kernel->numbers.size; i++)
        Py_XDECREF(kernel->numbers.made[i]);
    for (size_t i = 0; i < PAGES; i++)
        give_back(atomic_load_explicit(&kernel->pages[i], memory_order_relaxed));
    for (size_t i = 0; i < OUTPUT_BLOCKS; i++)
        give_back(kernel->outputs[i]);
    give_back(kernel->numbers.made);
    give_back(kernel->edges);
    give_back(kernel->readers);
    free_memory(&kernel->memory);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(kernel);
    Py_DECREF(type);
}

enum { NUMBERS_KEPT = 1 << 17 };

static int set_up(Kernel *kernel, size_t limit, const char *seed)
{
    memcpy(kernel->memory.seed, seed, sizeof kernel->memory.seed);
    kernel->memory.seed[1] |= 1; /* a factor of the hashes of long keys: by 0 they would be the same */
    kernel->memory.limit = kernel->limit = limit;
    atomic_store_explicit(&kernel->memory.epoch, 1, memory_order_relaxed);
    for (int byte = 0; byte < 256; byte++)
        atomic_store_explicit(&kernel->follow[byte], byte == ' ' ? CHUNK_ENDS : LOOK_CLOSER, memory_order_relaxed);
    if (kernel->alone_first >= FIRST_CHINESE && kernel->alone_first <= kernel->alone_last
        && kernel->alone_last <= LAST_CHINESE)
        kernel->chinese_count = kernel->alone_last - kernel->alone_first + 1;
    kernel->numbers.made = new_zeroed(NUMBERS_KEPT, sizeof *kernel->numbers.made);
    kernel->readers = new_zeroed(FIRST_READERS, sizeof *kernel->readers);
    if (!kernel->numbers.made || !kernel->readers || forget_all(&kernel->memory))
        return -1;
    kernel->numbers.size = NUMBERS_KEPT;
    kernel->readers_size = FIRST_READERS;
    return 0;
}

PyDoc_STRVAR(kernel_doc,
    "Kernel(vocabulary, patterns, terms, classify, stay_apart, compose, hand_over, plain, steps, fold, settle, folds,\n"
    "       alone, limit, seed, /)\n--\n\n"
    "Texts to ids.\n\n"
    "Args:\n"
    "    vocabulary: a `Vocabulary`.\n"
    "    patterns: a tuple of a few `Vocabulary`, of what added tokens of one word look like; None where that is not\n"
    "        known.\n"
    "    terms: a tuple of at most 32 `Terms`, of what the others look like.\n"
    "    classify: code point -> (kind, combining class, flags, UTF-8 of what it becomes in a word); or of several (the\n"
    "        first, for each a byte of kind and flags, 0 where it is to be asked for by itself, UTF-8 of what each\n"
    "        becomes with line feeds between, or nothing where those that are kept become themselves).\n"
    "    stay_apart: two characters -> whether normalization leaves them as they are.\n"
    "    compose: a part of a chunk -> its composed form, which has the same ids; None where there is none.\n"
    "    hand_over: chunk, or several with spaces between -> its ids.\n"
    "    plain: text -> the list of its ids.\n"
    "    steps: the same -> the steps from its bounds to the next.\n"
    "    fold: character -> the bytes of what it looks like where terms are looked for.\n"
    "    settle: a form of a term -> its id and whether only spaces and signs may touch it, if the form says it all;\n"
    "        an added token of one word -> its id, if it stands wherever its bytes do.\n"
    "    folds: the same as `fold`, a byte for each of ASCII; 255 for none.\n"
    "    alone: the first and the last of the code points that are set between spaces and become themselves.\n"
    "    limit: how many bytes may be remembered.\n"
    "    seed: 16 random bytes.");

enum { VOCABULARY, TERMS, ROWS, KERNEL, TYPES };

typedef struct {
    PyTypeObject *types[TYPES];
} State;

static PyTypeObject *type_of_rows(PyObject *kernel)
{
    State *state = PyType_GetModuleState(Py_TYPE(kernel));
    return state ? state->types[ROWS] : NULL;
}

/* Take what added tokens look like from a tuple of `Vocabulary`. */
static int take_patterns(Kernel *kernel, PyTypeObject *vocabulary, PyObject *patterns)
{
    if (patterns == Py_None)
        return 0;
    Py_ssize_t count = PyTuple_Size(patterns);
    kernel->has_patterns = count >= 0 && count <= MOST_PATTERNS; /* more are left to Python, chunk by chunk */
    for (Py_ssize_t i = 0; kernel->has_patterns && i < count; i++) {
        PyObject *set = PyTuple_GetItem(patterns, i);
        if (!Py_IS_TYPE(set, vocabulary)) {
            PyErr_SetString(PyExc_TypeError, "patterns are a tuple of Vocabulary, or None");
            return -1;
        }
        const Pieces *pieces = &((Vocabulary *)set)->pieces;
        kernel->pattern_sets[kernel->pattern_count++] = pieces;
        if (pieces->long_count && pieces->long_lengths[0] > kernel->longest_pattern)
            kernel->longest_pattern = pieces->long_lengths[0];
    }
    return count < 0 ? -1 : 0;
}

/* Make one filter of the edges of all trees. One that tells nothing where ASCII is not looked for as it is, but for its
   case. */
static int make_edges(Kernel *kernel)
{
    size_t count = 0;
    int tells = 1;
    for (uint8_t byte = ' '; byte < 0x7f; byte++)
        tells &= (kernel->folds[byte] | 32) == (byte | 32);
    for (size_t i = 0; i < kernel->tree_count; i++)
        count += kernel->trees[i]->edge_count;
    kernel->edges_mask = power_of_two(tells ? count / 4 : 1, 1) - 1; /* 16 bits a term */
    kernel->edges = new_zeroed(kernel->edges_mask + 1, sizeof *kernel->edges);
    if (!kernel->edges) {
        PyErr_NoMemory();
        return -1;
    }
    *kernel->edges = tells ? 0 : UINT64_MAX;
    for (size_t i = 0; i < kernel->tree_count; i++)
        for (size_t edge = 0; edge < kernel->trees[i]->edge_count; edge++) {
            uint64_t hash = kernel->trees[i]->edges[edge];
            kernel->edges[hash >> 32 & kernel->edges_mask] |= edge_bits(hash);
        }
    return 0;
}

/* Take the trees of terms, of which a byte may be anywhere. -1 for what is none of them. */
static int take_terms(Kernel *kernel, PyTypeObject *type)
{
    Py_ssize_t count = PyTuple_Size(kernel->terms);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *terms = PyTuple_GetItem(kernel->terms, i);
        if (!Py_IS_TYPE(terms, type) || count > MOST_TREES) {
            PyErr_SetString(PyExc_TypeError, "terms are a tuple of at most 32 Terms");
            return -1;
        }
        const Tree *tree = &((Terms *)terms)->tree;
        kernel->trees[kernel->tree_count++] = tree;
        for (int byte = 0; byte < 256; byte++) {
            kernel->is_in_head[byte] |= tree->is_in_head[byte];
            kernel->ends_head[byte] |= tree->ends_head[byte];
        }
    }
    return count ? make_edges(kernel) : 0;
}

static PyObject *Kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    State *state = PyType_GetModuleState(type);
    Kernel *kernel;
    PyObject *objects[KERNEL_OBJECTS];
    const char *seed, *folds;
    Py_ssize_t seed_length, folds_length, limit;
    unsigned int alone_first, alone_last;
    if (!state
        || !PyArg_ParseTuple(arguments, "O!OO!OOOOOOOOy#(II)ny#", state->types[VOCABULARY], objects, objects + 1,
            &PyTuple_Type, objects + 2, objects + 3, objects + 4, objects + 5, objects + 6, objects + 7, objects + 8,
            objects + 9, objects + 10, &folds, &folds_length, &alone_first, &alone_last, &limit, &seed, &seed_length))
        return NULL;
    if (seed_length != 16 || folds_length != sizeof kernel->folds || limit < LEAST_LIMIT || (size_t)limit > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "a seed has 16 bytes, there are 128 folds, and a limit is from 256 KiB to 4 GiB");
        return NULL;
    }
    kernel = (Kernel *)PyType_GenericAlloc(type, 0);
    if (!kernel)
        return NULL;
    memcpy(kernel->folds, folds, sizeof kernel->folds);
    for (int i = 0; i < KERNEL_OBJECTS; i++)
        kernel->objects[i] = Py_NewRef(objects[i]);
    kernel->alone_first = alone_first;
    kernel->alone_last = alone_last;
    if (set_up(kernel, (size_t)limit, seed)) {
        Py_DECREF((PyObject *)kernel);
        return PyErr_NoMemory();
    }
    kernel->next = first_kernel;
    first_kernel = kernel;
    if (take_patterns(kernel, state->types[VOCABULARY], kernel->patterns) || take_terms(kernel, state->types[TERMS])) {
        Py_DECREF((PyObject *)kernel);
        return NULL;
    }
    return (PyObject *)kernel;
}

/* ---- the vocabulary ---------------------------------------------------------------------------------------------- */

/* Add an entry of a dict, once as it is and, without its prefix, once for the rests of words; a pattern, which has no
   prefix, in lower case. What has half of a surrogate pair is left out, as no word has. */
static int add_entry(Pieces *pieces, PyObject *entry, PyObject *number, const char *prefix, size_t prefix_size)
{
    Py_UCS4 points[LONGEST_PIECE + 1]; /* of its UTF-8 an entry would keep a copy */
    uint8_t line[LONGEST_PIECE + 4 + READ_AT_ONCE];
    size_t length = 0;
    Py_ssize_t size = PyUnicode_GetLength(entry);
    if (size > LONGEST_PIECE)
        return TOO_LARGE;
    if (size < 0 || !PyUnicode_AsUCS4(entry, points, LONGEST_PIECE + 1, 0))
        return PLAIN_ERROR;
    for (Py_ssize_t i = 0; i < size && length <= LONGEST_PIECE; i++) {
        if (points[i] >= 0xd800 && points[i] < 0xe000)
            return 0;
        int is_raised = !prefix && points[i] >= 'A' && points[i] <= 'Z';
        length += put_code_point(line + length, is_raised ? points[i] | 32 : points[i]);
    }
    memset(line + length, 0, READ_AT_ONCE);
    if (prefix && !PyLong_Check(number)) { /* to ask it for its `__index__` is to let it change the dict */
        PyErr_SetString(PyExc_TypeError, "no kernel for this vocabulary: an id is no int");
        return PLAIN_ERROR;
    }
    long id = prefix ? PyLong_AsLong(number) : 0;
    if (id == -1 && PyErr_Occurred())
        return PLAIN_ERROR;
    if (length > LONGEST_PIECE || id < 0 || id > INT32_MAX)
        return TOO_LARGE;
    int result = length ? add_piece(pieces, FRONT, line, length, (int32_t)id) : 0;
    if (!result && prefix && length > prefix_size && !memcmp(line, prefix, prefix_size))
        result = add_piece(pieces, REST, line + prefix_size, length - prefix_size, (int32_t)id);
    return result;
}

PyDoc_STRVAR(vocabulary_doc,
    "Vocabulary(entries, changes, prefix, unknown, longest_word, seed, /)\n--\n\n"
    "The entries of a vocabulary, to cut words into: a dict of their ids, and one of some that have other ids.\n\n"
    "With None as prefix, what added tokens look like: the ids do not matter. Those that no text can hold are left out.\n"
    "ValueError for entries or ids that are too large, TypeError for ids that are no int.");

static int fill_vocabulary(Vocabulary *vocabulary, PyObject *arguments)
{
    Pieces *pieces = &vocabulary->pieces;
    PyObject *entries, *changes, *entry, *number;
    const char *prefix, *seed;
    Py_ssize_t prefix_size, longest_word, seed_size, at = 0;
    int unknown;
    if (!PyArg_ParseTuple(arguments, "O!O!z#iny#", &PyDict_Type, &entries, &PyDict_Type, &changes, &prefix,
            &prefix_size, &unknown, &longest_word, &seed, &seed_size))
        return PLAIN_ERROR;
    size_t count = (size_t)PyDict_Size(entries) + (size_t)PyDict_Size(changes);
    if (seed_size != sizeof pieces->seed || unknown < 0 || count > MOST_ENTRIES)
        return TOO_LARGE;
    memcpy(pieces->seed, seed, sizeof pieces->seed);
    pieces->seed[1] |= 1;
    pieces->unknown = unknown;
    pieces->longest_word = longest_word < 0 ? 0 : (uint64_t)longest_word;
    int result = make_pieces(pieces, count);
    PyObject *const both[] = {changes, entries}; /* of an entry of both the first counts */
    for (int i = 0; i < 2; i++, at = 0)
        while (!result && PyDict_Next(both[i], &at, &entry, &number))
            result = add_entry(pieces, entry, number, prefix, (size_t)prefix_size);
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

/* The ids of a str, as one word or as a text without words; None where the kernel cannot read it. */
static PyObject *ids_of_str(const Pieces *pieces, PyObject *text, int is_word)
{
    size_t size = 0, count = 0;
    const uint8_t *bytes = utf8_of(text, &size);
    if (!size || size >= UINT32_MAX)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    int32_t *ids = resized(NULL, size * sizeof *ids);
    uint8_t *copy = padded(bytes, size, NULL, 0);
    CodePoint *points = is_word ? NULL : resized(NULL, ((size_t)PyUnicode_GetLength(text) + 1) * sizeof *points);
    PyObject *list = NULL;
    if (ids && copy && (is_word || points)) {
        count = is_word ? ids_of_word(pieces, copy, size, (size_t)PyUnicode_GetLength(text), ids)
                        : ids_anywhere(pieces, copy, size, points, ids);
        list = list_of(&(Numbers){NULL, 0}, NULL, ids, count, NULL);
    } else {
        PyErr_NoMemory();
    }
    give_back(points);
    give_back(ids);
    give_back(copy);
    return list;
}

static PyObject *Vocabulary_ids(Vocabulary *vocabulary, PyObject *word)
{
    return ids_of_str(&vocabulary->pieces, word, 1);
}

static PyObject *Vocabulary_ids_anywhere(Vocabulary *vocabulary, PyObject *text)
{
    return ids_of_str(&vocabulary->pieces, text, 0);
}

static void Vocabulary_dealloc(Vocabulary *vocabulary)
{
    PyTypeObject *type = Py_TYPE((PyObject *)vocabulary);
    free_pieces(&vocabulary->pieces);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(vocabulary);
    Py_DECREF(type);
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(terms_doc,
    "Terms(forms, /)\n--\n\n"
    "What added tokens of several words look like in a text: a sorted list, in which none is empty or there twice.\n\n"
    "ValueError where it is not that, or too large.");

static PyObject *Terms_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    PyObject *forms;
    if (!PyArg_ParseTuple(arguments, "O!", &PyList_Type, &forms))
        return NULL;
    Terms *terms = (Terms *)PyType_GenericAlloc(type, 0);
    int result = terms ? fill_tree(&terms->tree, forms) : PLAIN_ERROR;
    if (!result)
        return (PyObject *)terms;
    Py_XDECREF((PyObject *)terms);
    if (result == NO_MEMORY)
        PyErr_NoMemory();
    else if (result == TOO_LARGE)
        PyErr_SetString(PyExc_ValueError, "no kernel for these terms: they are too large, or not in order");
    return NULL;
}

static void Terms_dealloc(Terms *terms)
{
    PyTypeObject *type = Py_TYPE((PyObject *)terms);
    free_tree(&terms->tree);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(terms);
    Py_DECREF(type);
}

/* ---- the module -------------------------------------------------------------------------------------------------- */

/* Of what `choosing.py` relies on: it takes no library with another number. */
enum { INTERFACE = 13 };

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef vocabulary_methods[] = {
    {"ids", FUNCTION(Vocabulary_ids), METH_O,
        "ids(word, /)\n--\n\nThe ids of a word's pieces, as a list; None for a word that the kernel cannot read."},
    {"ids_anywhere", FUNCTION(Vocabulary_ids_anywhere), METH_O,
        "ids_anywhere(text, /)\n--\n\n"
        "The ids of the longest entry anywhere in a text, the leftmost of several, and of what is left and right of\n"
        "it, cut in the same way; None for a text that the kernel cannot read."},
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

static PyType_Slot terms_slots[] = {
    {Py_tp_doc, (void *)terms_doc},
    {Py_tp_new, Terms_new},
    {Py_tp_dealloc, Terms_dealloc},
    {0, NULL},
};
static PyType_Spec terms_spec = {
    .name = "trietok.text.kernel._kernel.Terms",
    .basicsize = sizeof(Terms),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = terms_slots,
};

static PyMethodDef rows_methods[] = {
    {"int32_lengths", FUNCTION(Rows_int32_lengths), METH_VARARGS,
        "int32_lengths(around, /)\n--\n\nHow many ids each row has, and as many more as are around it, as int32."},
    {"cut", FUNCTION(Rows_cut), METH_VARARGS,
        "cut(room, from_left, /)\n--\n\nCut each row to at most so many ids, at its beginning or its end."},
    {"lists", FUNCTION(Rows_lists), METH_NOARGS, "lists()\n--\n\nEach row as a list of ids."},
    {"columns", FUNCTION(Rows_columns), METH_O,
        "columns(form, /)\n--\n\n"
        "All rows, with what is around them, as a `Form` says, but not cut: columns by name. They have one width, or the\n"
        "form is one of lists."},
    {"int32", FUNCTION(Rows_int32), METH_VARARGS,
        "int32(front, back, /)\n--\n\nAll rows as int32, one behind the other, each between what is in two bytes."},
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
    {"ids", FUNCTION(Kernel_ids), METH_FASTCALL,
        "ids(text, front=[], back=[], /)\n--\n\nThe ids of a text between those of two lists."},
    {"count", FUNCTION(Kernel_count), METH_O, "count(text, /)\n--\n\nHow many ids a text has."},
    {"columns", FUNCTION(Kernel_columns), METH_FASTCALL,
        "columns(texts, form, threads, /)\n--\n\n"
        "The ids of a tuple of texts as a `Form` says: columns by name.\n\n"
        "Their rows, cut and not padded, where one has too many ids, or they are of several widths and no lists are\n"
        "wanted, or a pair has to be cut. None where there is no text, or something that is no str. For threads see\n"
        "`rows`."},
    {"flat", FUNCTION(Kernel_flat), METH_FASTCALL,
        "flat(texts, form, threads, /)\n--\n\n"
        "The ids of all texts in one array of int32, and in another one where each begins, and the last ends.\n\n"
        "The first column of the form is theirs. Rows, or None, as by `columns`, and where int32 counts no further."},
    {"rows", FUNCTION(Kernel_rows), METH_VARARGS,
        "rows(texts, threads=None, /)\n--\n\n"
        "The ids of each text, worked out without the GIL.\n\n"
        "Where there is much to read, `threads` is asked how many threads may do it; None for this one alone. It gets\n"
        "the number of forks since the kernel was loaded of which this process is the child."},
    {"rows_between", FUNCTION(Kernel_rows_between), METH_VARARGS,
        "rows_between(data, offsets, first, count, threads=None, /)\n--\n\n"
        "The ids of `count` texts that lie in a buffer of UTF-8, between int64 offsets, from the offset `first` on.\n\n"
        "None where what lies there is no UTF-8. Nobody may write into the buffers meanwhile."},
    {"spans", FUNCTION(Kernel_spans), METH_O,
        "spans(text, /)\n--\n\n"
        "The spans of a text's tokens, chunk by chunk; None for a text that the kernel cannot read.\n\n"
        "A chunk with characters behind its last token ends with an empty span."},
    {"info", FUNCTION(Kernel_info), METH_NOARGS,
        "info()\n--\n\nHow many words and chunks are remembered, in how many bytes, and more."},
    {"forget", FUNCTION(Kernel_forget), METH_NOARGS, "forget()\n--\n\nForget what words and chunks became."},
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
    {"merge_pairs", merge_pairs, METH_VARARGS,
        "merge_pairs(words, counts, tokens, most, least, name, /)\n--\n\n"
        "Merge pairs until there are `most` tokens, or none occurs `least` times.\n\n"
        "Args:\n"
        "    words: a writable buffer of uint32, the tokens of each word with 0x10FFFF behind them; it is used up.\n"
        "    counts: int64 in a buffer, how often each word occurs; together less than 2 ** 62.\n"
        "    tokens: how many there are.\n"
        "    name: the two tokens of a pair -> the one they become, which is either there or the next."},
    {"count_kernels", count_kernels, METH_NOARGS, "count_kernels()\n--\n\nHow many kernels there are."},
#ifdef TRIETOK_FAILING_ALLOCATOR
    {"fail_allocation", fail_allocation, METH_O, "Let an allocation fail once, after so many; -1 for none."},
    {"count_alive", count_alive, METH_NOARGS, "How many allocations have not been given back."},
#endif
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    static int minds_forks = 0; /* of this module, however often it is imported */
    if (!minds_forks && at_forks(hold_kernels, unlock_kernels, release_in_child))
        return PyErr_NoMemory(), -1;
    minds_forks = 1;
    State *state = PyModule_GetState(module);
    static PyType_Spec *const specs[] = {&vocabulary_spec, &terms_spec, &rows_spec, &kernel_spec};
    for (int i = 0; i < TYPES; i++) {
        state->types[i] = (PyTypeObject *)PyType_FromModuleAndSpec(module, specs[i], NULL);
        if (!state->types[i] || PyModule_AddType(module, state->types[i]))
            return -1;
    }
    static const char *const kinds[] = {"UNASKED", "ORDINARY", "DELETED", "SPACE", "ALONE", "HAND_OVER"};
    for (int kind = 0; kind < KINDS; kind++)
        if (PyModule_AddIntConstant(module, kinds[kind], kind))
            return -1;
    return PyModule_AddIntConstant(module, "INTERFACE", INTERFACE)
           || PyModule_AddStringConstant(module, "SOURCES", TRIETOK_SOURCES) ? -1 : 0;
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
    .m_name = "trietok.text.kernel._kernel",
    .m_doc = "The compiled kernel of trietok.text.chunk_encoder; see trietok.text.kernel.choosing.",
    .m_size = sizeof(State),
    .m_methods = module_functions,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&module_definition); }
