/* A text -> its words. `encode_text` reads a text chunk by chunk, from space to space. `pass_words` is the fast path:
   it looks up many words at once, if they consist of ASCII or, without terms, of other simple letters. `read_chunk`
   reads everything else character by character.

   The kernel contains no Unicode tables. It asks Python what a code point becomes (CLASSIFY), and whether two
   characters compose (STAY_APART). If the answers are not enough, Python composes the part of the chunk between two
   boundaries (COMPOSE), or encodes it (IDS); or it encodes the whole chunk if an added token may cross a boundary. The
   kernel finds added tokens in printable ASCII by itself and asks Python for their ids (SETTLE). So all rules about
   characters are written once, in Python. */
#include "kernel.h"

/* ---- asking Python ----------------------------------------------------------------------------------------------- */

/* Get the UTF-8 of a str. It stays NULL for a str that has none (surrogates), and for a subclass of str, which may have
   methods of its own. Return -1 for an error. */
int text_of(PyObject *object, Text *text)
{
    Py_ssize_t size = 0;
    *text = (Text){object, NULL, 0};
    if (!PyUnicode_CheckExact(object))
        return 0;
    text->bytes = (const uint8_t *)PyUnicode_AsUTF8AndSize(object, &size);
    text->size = (size_t)size;
    if (text->bytes)
        return 0;
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        return -1;
    PyErr_Clear();
    return 0;
}

/* Ask Python about a text. Requires the GIL. Return a new reference, or NULL for an error. */
static PyObject *ask(Worker *worker, int question, Text text)
{
    PyObject *object = text.object ? Py_NewRef(text.object)
                                   : PyUnicode_DecodeUTF8((const char *)text.bytes, (Py_ssize_t)text.size, NULL);
    PyObject *answer = object ? PyObject_CallFunctionObjArgs(worker->kernel->questions[question], object, NULL) : NULL;
    Py_XDECREF(object);
    return answer;
}

/* Append the numbers of an answer: int32, or bytes. */
static Status put_numbers(Worker *worker, PyObject *answer, int are_bytes)
{
    Py_ssize_t count = answer ? PySequence_Size(answer) : -1;
    if (count < 0 || reserve_ids(worker, (size_t)count))
        return FAILED;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(answer, i);
        long long number = item ? PyLong_AsLongLong(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return FAILED;
        if (number < (are_bytes ? 0 : INT32_MIN) || number > (are_bytes ? UINT8_MAX : INT32_MAX)) {
            PyErr_Format(PyExc_OverflowError, "the number %lld of an answer is too large for the kernel", number);
            return FAILED;
        }
        worker->ids[worker->count++] = (int32_t)number;
    }
    return OK;
}

static Status ask_for_numbers(Worker *worker, int question, Text text)
{
    python_enter(worker);
    PyObject *answer = ask(worker, question, text);
    Status status = put_numbers(worker, answer, question == FOLD);
    Py_XDECREF(answer);
    python_leave(worker);
    return status;
}

/* Cache the ids from number `from` on, for padded bytes. Return -1 without memory. */
static int remember(Worker *worker, KeyKind kind, const uint8_t *bytes, size_t length, size_t from)
{
    return cache_put(worker, kind, bytes, length, worker->ids + from, worker->count - from, (Starts){0, 0});
}

/* After an attempt to encode a chunk, a part of it or a window: cache the ids from number `from` on, or remove them if
   Python must encode it. */
Status settle_ids(Worker *worker, Status status, const uint8_t *bytes, size_t length, size_t from)
{
    if (status == OK && remember(worker, KEY_CHUNK, bytes, length, from))
        return FAILED;
    if (status == UNSURE)
        worker->count = from;
    return status;
}

/* Append the answer to a question about padded bytes, from the cache if it is there. */
Status ask_cached(Worker *worker, KeyKind kind, const uint8_t *bytes, size_t length)
{
    static const int questions[KEY_KINDS] = {
        [KEY_CHUNK] = IDS, [KEY_STEPS] = STEPS, [KEY_FOLD] = FOLD, [KEY_TERM] = SETTLE};
    const Entry *entry = cache_get(worker, kind, bytes, length);
    if (entry)
        return put_entry(worker, entry);
    size_t count = worker->count;
    Status status = ask_for_numbers(worker, questions[kind], (Text){NULL, bytes, length});
    if (status == OK && remember(worker, kind, bytes, length, count))
        return FAILED;
    return status;
}

/* Whether two characters, given as padded bytes, stay as they are side by side. Return -1 for an error. */
static int stays_apart(Worker *worker, const uint8_t *pair, size_t length)
{
    const Entry *entry = cache_get(worker, KEY_PAIR, pair, length);
    if (entry)
        return *ids_of(entry);
    python_enter(worker);
    PyObject *answer = ask(worker, STAY_APART, (Text){NULL, pair, length});
    int32_t result = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    python_leave(worker);
    if (result < 0 || cache_put(worker, KEY_PAIR, pair, length, &result, 1, (Starts){0, 0}))
        return -1;
    return result;
}

/* ---- what becomes of characters ---------------------------------------------------------------------------------- */

/* If the memory for characters is used up, Python encodes each chunk with a new character. */
static const Char NO_ROOM = {HAND_OVER, 0, 0, IS_KEY, {0}}, NOT_KNOWN = {UNASKED, 0, 0, 0, {0}};

/* Take memory for characters, at most half of the worker's share. */
static int take_char_budget(Worker *worker, size_t bytes)
{
    long long workers = shared_get(&worker->kernel->worker_count);
    if ((worker->char_bytes + (long long)bytes) * 2 * workers > worker->kernel->limit || !take_budget(worker, bytes))
        return 0;
    worker->char_bytes += (long long)bytes;
    return 1;
}

static void return_char_budget(Worker *worker, size_t bytes)
{
    return_budget(worker, bytes);
    worker->char_bytes -= (long long)bytes;
}

/* Store the output of a code point. Return 1; 0 if the budget is used up; -1 without memory. */
static int keep_output(Worker *worker, Char *made, const uint8_t *bytes)
{
    if (made->length <= SHORT_OUTPUT) {
        memcpy(made->bytes, bytes, made->length);
        return 1;
    }
    if (worker->outputs_used + made->length > worker->outputs_capacity) {
        size_t room = worker->outputs_capacity ? 2 * worker->outputs_capacity : 1024;
        if (!take_char_budget(worker, room - worker->outputs_capacity))
            return 0;
        uint8_t *outputs = xrealloc(worker->outputs, room);
        if (!outputs) {
            return_char_budget(worker, room - worker->outputs_capacity);
            return -1;
        }
        worker->outputs = outputs;
        worker->outputs_capacity = room;
    }
    memcpy(worker->outputs + worker->outputs_used, bytes, made->length);
    made->place = (uint32_t)worker->outputs_used;
    worker->outputs_used += made->length;
    return 1;
}

static inline const uint8_t *output_of(const Worker *worker, const Char *known)
{
    return known->length <= SHORT_OUTPUT ? known->bytes : worker->outputs + known->place;
}

static inline int is_simple(const Worker *worker, uint32_t code_point)
{
    return worker->is_simple[code_point / 64] >> code_point % 64 & 1;
}

/* Mark a code point as simple if it stays in its word, never composes with the character before it, and is not a key.
   ASCII letters and digits may be keys, because new words are checked for keys. Also note what the character means
   after a word. */
static void note_simple(Worker *worker, uint32_t code_point, Char made)
{
    const Kernel *kernel = worker->kernel;
    int may_be_key = made.flags & (IS_KEY | MAY_PASS);
    if (made.kind == ORDINARY && code_point < 0x10000 && !made.combining_class && !(made.flags & MAY_COMPOSE)
        && (!may_be_key || (made.flags & MAY_PASS && is_alphanumeric(code_point))))
        worker->is_simple[code_point / 64] |= (uint64_t)1 << code_point % 64;
    if (code_point >= 0x80 || code_point == ' ' || may_be_key || kernel->is_in_head[kernel->folds[code_point]])
        return;
    if (made.kind == SPACE)
        worker->follow[code_point] = WORD_ENDS;
    else if (made.kind == ALONE && !(made.flags & (IS_BOUNDARY | MAY_COMPOSE)))
        worker->follow[code_point] = made.id;
}

/* Store what a code point becomes. Return NOT_KNOWN without memory, NO_ROOM if the budget is used up. */
static Char keep_char(Worker *worker, uint32_t code_point, Char made, const uint8_t *bytes)
{
    Char **page = &worker->pages[code_point / PAGE];
    if (!*page) {
        if (!take_char_budget(worker, PAGE * sizeof **page))
            return NO_ROOM;
        *page = xcalloc(PAGE, sizeof **page);
        if (!*page) {
            return_char_budget(worker, PAGE * sizeof **page);
            return NOT_KNOWN;
        }
    }
    Char *known = &(*page)[code_point % PAGE];
    if (known->kind != UNASKED)
        return *known;
    if (made.kind == ALONE) {
        int32_t ids[LONGEST_OUTPUT];
        ids_of_word(worker->kernel->vocabulary, bytes, made.length, 1, ids);
        made.id = ids[0];
    } else {
        int has_room = keep_output(worker, &made, bytes);
        if (has_room <= 0)
            return has_room ? NOT_KNOWN : NO_ROOM;
    }
    *known = made;
    note_simple(worker, code_point, made);
    return made;
}

static inline Char known_char(const Worker *worker, uint32_t code_point)
{
    const Char *page = worker->pages[code_point / PAGE];
    return page ? page[code_point % PAGE] : NOT_KNOWN;
}

/* Store the answer about one code point: (kind, combining class, flags, output in UTF-8). */
static Char keep_answer(Worker *worker, uint32_t code_point, PyObject *answer)
{
    uint8_t bytes[LONGEST_OUTPUT + READ_AT_ONCE] = {0};
    int kind, combining_class, flags;
    const char *output;
    Py_ssize_t length;
    if (!PyTuple_Check(answer)) {
        PyErr_SetString(PyExc_TypeError, "the answer about a character is not a tuple");
        return NOT_KNOWN;
    }
    if (!PyArg_ParseTuple(answer, "iiiy#", &kind, &combining_class, &flags, &output, &length))
        return NOT_KNOWN;
    if (kind <= UNASKED || kind >= KINDS || combining_class < 0 || combining_class > 255 || flags < 0 || flags >= FLAGS
        || length > LONGEST_OUTPUT || (kind == ALONE && !length)) {
        PyErr_SetString(PyExc_ValueError, "the kernel understands no such answer about a character");
        return NOT_KNOWN;
    }
    memcpy(bytes, output, (size_t)length);
    Char made = {(uint8_t)kind, (uint8_t)combining_class, (uint8_t)length, (uint8_t)flags, {0}};
    return keep_char(worker, code_point, made, bytes);
}

/* Store the answer about a block of code points: the first one; a byte for each, its kind plus 8 times its flags; their
   outputs in UTF-8, separated by line feeds, or nothing if they do not change. Code points of kind 0 have to be asked
   about one by one. Return -1 for an error. */
static int keep_block(Worker *worker, PyObject *answer)
{
    const char *values, *outputs;
    Py_ssize_t count, size;
    unsigned int first;
    if (!PyArg_ParseTuple(answer, "Iy#y#", &first, &values, &count, &outputs, &size))
        return -1;
    const char *at = outputs, *end = outputs + size;
    for (uint32_t i = 0; i < (uint32_t)count && first < PAGE * PAGES - i; i++) {
        uint8_t bytes[LONGEST_OUTPUT + READ_AT_ONCE] = {0}, kind = (uint8_t)values[i] & 7;
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        if (!size)
            length = put_code_point(bytes, first + i);
        else if (length <= LONGEST_OUTPUT)
            memcpy(bytes, at, length);
        at = stop ? stop + 1 : end;
        if (kind != ORDINARY && kind != ALONE)
            length = 0;
        if (kind == UNASKED || kind >= KINDS || length > LONGEST_OUTPUT || (kind == ALONE && !length))
            continue;
        Char made = {kind, 0, (uint8_t)length, (uint8_t)values[i] >> 3, {0}};
        if (keep_char(worker, first + i, made, bytes).kind == UNASKED)
            return -1;
    }
    return 0;
}

/* Ask Python about a code point. The answer may be about a block and leave out this code point; then ask again. Return
   NOT_KNOWN for an error. */
static Char ask_about(Worker *worker, uint32_t code_point)
{
    Char known = NOT_KNOWN;
    int failed = 0;
    python_enter(worker);
    for (int i = 0; i < 2 && !failed && known.kind == UNASKED; i++) {
        PyObject *answer = PyObject_CallFunction(worker->kernel->questions[CLASSIFY], "I", (unsigned int)code_point);
        int is_block = answer && PyTuple_Check(answer) && PyTuple_Size(answer) == 3;
        if (is_block)
            failed = keep_block(worker, answer);
        known = !answer || failed ? NOT_KNOWN
                : is_block        ? known_char(worker, code_point)
                                  : keep_answer(worker, code_point, answer);
        failed |= !answer || (!is_block && known.kind == UNASKED);
        Py_XDECREF(answer);
    }
    python_leave(worker);
    return known.kind == UNASKED && !failed ? NO_ROOM : known;
}

/* What the code point at `at` becomes. Return NOT_KNOWN for an error. */
static inline Char char_at(Worker *worker, const uint8_t *at, const uint8_t **next)
{
    uint32_t code_point = code_point_at(at, next);
    Char known = known_char(worker, code_point);
    return LIKELY(known.kind != UNASKED) ? known : ask_about(worker, code_point);
}

/* Ask about the ASCII letters and digits. Return -1 for an error. */
static int ask_about_letters(Worker *worker)
{
    int are_simple = 1;
    for (uint8_t byte = '0'; byte <= 'z'; byte++) {
        const uint8_t bytes[4] = {byte}, *next;
        if (!is_alphanumeric(byte))
            continue;
        if (char_at(worker, bytes, &next).kind == UNASKED)
            return -1;
        are_simple &= is_simple(worker, byte);
    }
    worker->are_letters_simple = are_simple;
    worker->has_letters = 1;
    return 0;
}

/* ---- whether an added token of one word stands in a chunk -------------------------------------------------------- */

/* The length of the longest added token at the start of padded bytes in lower case, or 0. */
static inline size_t token_at(const Kernel *kernel, const uint8_t *lowered, size_t length)
{
    size_t longest = 0, found;
    for (size_t i = 0; i < kernel->pattern_count; i++)
        if (kernel->patterns[i]->is_first[*lowered]
            && longest_piece(kernel->patterns[i], AT_START, lowered, length, &found) != NO_ID && found > longest)
            longest = found;
    return longest;
}

/* Lower-case ASCII letters. Return whether everything is printable ASCII. */
static inline int lower_ascii(uint8_t *bytes, size_t length)
{
    int is_printable = 1;
    for (size_t i = 0; i < length; i++) {
        is_printable &= bytes[i] >= 0x20 && bytes[i] < 0x7f;
        bytes[i] |= (uint8_t)((bytes[i] >= 'A' && bytes[i] <= 'Z') << 5);
    }
    return is_printable;
}

/* Whether no added token begins in the first `most` bytes, in any case. There are at most WORD_AT_HAND bytes. */
static int begins_no_token(const Kernel *kernel, const uint8_t *start, size_t length, size_t most)
{
    uint8_t lowered[WORD_AT_HAND + READ_AT_ONCE];
    memcpy(lowered, start, length);
    memset(lowered + length, 0, READ_AT_ONCE);
    if (!lower_ascii(lowered, length))
        return 0;
    for (size_t i = 0; i < most; i++)
        if (token_at(kernel, lowered + i, length - i))
            return 0;
    return 1;
}

/* Whether a chunk or window certainly contains no added token: it is printable ASCII, of which normalization only
   changes the case, and no token begins in it. A long one is searched in steps, each of which looks ahead as far as
   tokens reach. */
int has_no_token(const Kernel *kernel, const uint8_t *start, const uint8_t *stop)
{
    enum { STEP = WORD_AT_HAND / 2 };
    if (!kernel->has_patterns)
        return 0;
    for (; stop - start > WORD_AT_HAND; start += STEP)
        if (kernel->longest_pattern > STEP || !begins_no_token(kernel, start, WORD_AT_HAND, STEP))
            return 0;
    return begins_no_token(kernel, start, (size_t)(stop - start), (size_t)(stop - start));
}

static int is_free(const Worker *worker, Chunk *chunk)
{
    if (chunk->is_free < 0)
        chunk->is_free = (int8_t)has_no_token(worker->kernel, chunk->start, chunk_end(chunk->at, chunk->text_end));
    return chunk->is_free;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* The spelling of a word in `Worker.word`. */
typedef struct {
    size_t size, code_points;
    uint8_t flags; /* of all its characters, combined */
} Spelling;

static int reserve_word(Worker *worker, size_t room)
{
    if (room <= worker->word_capacity)
        return 0;
    uint8_t *word = xrealloc(worker->word, 2 * room);
    if (!word)
        return -1;
    worker->word = word;
    worker->word_capacity = 2 * room;
    return 0;
}

static Status spell_word(Worker *worker, const uint8_t *bytes, size_t length, Spelling *spelling)
{
    const uint8_t *stop = bytes + length, *next;
    for (const uint8_t *at = bytes; at < stop; at = next) {
        Char known = char_at(worker, at, &next);
        if (known.kind == UNASKED)
            return FAILED;
        spelling->flags |= known.flags;
        if (spelling->code_points > worker->kernel->vocabulary->longest_word)
            continue; /* the word is unknown anyway */
        if (reserve_word(worker, spelling->size + known.length + READ_AT_ONCE))
            return FAILED;
        uint8_t *word = worker->word + spelling->size;
        if (known.length <= SHORT_OUTPUT)
            memcpy(word, known.bytes, SHORT_OUTPUT); /* a constant size is fast */
        else
            memcpy(word, output_of(worker, &known), known.length);
        spelling->size += known.length;
        for (size_t i = 0; i < known.length; i++)
            spelling->code_points += (word[i] & 0xc0) != 0x80;
    }
    return OK;
}

/* Append the ids of a new word, whose code points all stay in it or are deleted, and cache them. */
static Status work_out_word(Worker *worker, Chunk *chunk, const uint8_t *bytes, size_t length)
{
    const Vocabulary *vocabulary = worker->kernel->vocabulary;
    Spelling spelling = {0, 0, 0};
    size_t count = worker->count;
    if (spell_word(worker, bytes, length, &spelling))
        return FAILED;
    if (spelling.flags & MAY_PASS && !is_free(worker, chunk))
        return spelling.flags & IS_KEY ? TOKEN_IN_CHUNK : TOKEN_IN_PART;
    if (reserve_ids(worker, spelling.size + 1 + MOST_STARTS))
        return FAILED;
    if (spelling.size)
        worker->count +=
            ids_of_word(vocabulary, worker->word, spelling.size, spelling.code_points, worker->ids + worker->count);
    chunk->starts = find_starts(worker, bytes, length);
    return cache_put(worker, KEY_WORD, bytes, length, worker->ids + count, worker->count - count, chunk->starts)
               ? FAILED
               : OK;
}

/* Append the ids of the word that ends here, if there is one. */
static inline Status end_word(Worker *worker, Chunk *chunk)
{
    if (!chunk->word)
        return OK;
    size_t length = (size_t)(chunk->at - chunk->word);
    const Entry *entry = cache_get(worker, KEY_WORD, chunk->word, length);
    Status status = entry ? put_entry(worker, entry) : work_out_word(worker, chunk, chunk->word, length);
    if (status == OK)
        chunk->word = NULL;
    return status;
}

/* ---- runs of simple characters ---------------------------------------------------------------------------------- */

/* One bit for each of 16 bytes: whether it is an ASCII letter or digit. */
static inline uint32_t alphanumeric_bits(const uint8_t *at)
{
#ifdef TRIETOK_SSE2
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i small = _mm_or_si128(bytes, _mm_set1_epi8(32));
    /* Subtracting makes the first letter the smallest signed byte, so one comparison is enough. */
    __m128i letters = _mm_cmplt_epi8(_mm_sub_epi8(small, _mm_set1_epi8('a' - 128)), _mm_set1_epi8(26 - 128));
    __m128i digits = _mm_cmplt_epi8(_mm_sub_epi8(bytes, _mm_set1_epi8('0' - 128)), _mm_set1_epi8(10 - 128));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(letters, digits));
#else
    uint32_t bits = 0;
    for (int i = 0; i < 16; i++)
        bits |= (uint32_t)is_alphanumeric(at[i]) << i;
    return bits;
#endif
}

/* One bit for each of 16 bytes: whether it is a space. */
static inline uint32_t space_bits(const uint8_t *at)
{
#ifdef TRIETOK_SSE2
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')));
#else
    uint32_t bits = 0;
    for (int i = 0; i < 16; i++)
        bits |= (uint32_t)(at[i] == ' ') << i;
    return bits;
#endif
}

/* Skip simple characters. The space after the text is not simple. */
static inline void pass_simple(const Worker *worker, Chunk *chunk)
{
    const uint8_t *run = chunk->at, *at = run, *next;
    for (size_t length;; at += length) {
        if (worker->are_letters_simple && *at < 0x80)
            length = lowest_bit(~(uint64_t)alphanumeric_bits(at));
        else
            length = *at < 0xf0 && is_simple(worker, code_point_at(at, &next)) ? (size_t)(next - at) : 0;
        if (!length)
            break;
    }
    if (at == run)
        return;
    chunk->at = chunk->before_end = at;
    if (!chunk->word)
        chunk->word = run;
    while ((*--at & 0xc0) == 0x80)
        continue;
    chunk->before = at;
    chunk->before_is_plain = -1;
    chunk->combining_class = 0;
}

static inline void set_boundary(Worker *worker, Chunk *chunk, const uint8_t *at)
{
    chunk->part = at;
    chunk->part_count = worker->count;
    chunk->before = NULL;
    chunk->combining_class = 0;
}

/* ---- what goes to Python ----------------------------------------------------------------------------------------- */

static Status read_chunk(Worker *worker, Chunk *chunk);
static Status encode_padded(Worker *worker, const uint8_t *text, size_t size, const uint8_t **after);

static inline Chunk new_chunk(const Worker *worker, const uint8_t *at, const uint8_t *text_end)
{
    return (Chunk){.at = at,
        .text_end = text_end,
        .start = at,
        .part = at,
        .count = worker->count,
        .part_count = worker->count,
        .is_free = -1};
}

/* Copy bytes and make the copy padded. It is `at_hand` if it fits, otherwise the caller must free it. */
uint8_t *padded_copy(const uint8_t *bytes, size_t size, uint8_t *at_hand, size_t room)
{
    uint8_t *copy = size <= room ? at_hand : xrealloc(NULL, size + PADDING);
    if (copy) {
        memcpy(copy, bytes, size);
        memset(copy + size, ' ', PADDING);
    }
    return copy;
}

/* Ask Python for the composed form of a part, and copy it. UNSURE if there is none. */
static Status compose(Worker *worker, const uint8_t *part, size_t length, uint8_t **copy, size_t *size)
{
    Text composed = {NULL, NULL, 0};
    python_enter(worker);
    PyObject *answer = ask(worker, COMPOSE, (Text){NULL, part, length});
    Status status = !answer || text_of(answer, &composed) ? FAILED : composed.bytes ? OK : UNSURE;
    *size = composed.size;
    if (status == OK && !(*copy = padded_copy(composed.bytes, composed.size, worker->part, WORD_AT_HAND)))
        status = FAILED;
    Py_XDECREF(answer);
    python_leave(worker);
    return status;
}

/* Encode a part by its composed form, if all of its characters are certain. */
static Status encode_composed(Worker *worker, const uint8_t *part, size_t length)
{
    size_t count = worker->count, size = 0;
    uint8_t *copy = NULL;
    Status status = compose(worker, part, length, &copy, &size);
    if (status != OK)
        return status;
    Chunk chunk = new_chunk(worker, copy, copy + size);
    worker->is_composed = 1;
    status = read_chunk(worker, &chunk);
    worker->is_composed = 0;
    if (status == OK && chunk.at != copy + size)
        status = UNSURE; /* composing has made a space */
    if (copy != worker->part)
        xfree(copy);
    return settle_ids(worker, status, part, length, count);
}

/* Encode a part that contains no added token, such as what is left of a window between terms. */
Status encode_part(Worker *worker, const uint8_t *part, size_t length)
{
    uint8_t at_hand[LONGEST_KEY + PADDING];
    const uint8_t *checked = worker->checked;
    size_t enough = worker->enough;
    int was_inside = worker->is_inside;
    if (!length)
        return OK;
    if (length > CHECKPOINT_BYTES)
        return UNSURE; /* there are no checks for signals inside a part */
    uint8_t *copy = padded_copy(part, length, at_hand, LONGEST_KEY);
    if (!copy)
        return FAILED;
    worker->is_inside = 1;
    worker->enough = SIZE_MAX; /* the result is cached, so it must be complete */
    const uint8_t *after;
    Status status = encode_padded(worker, copy, length, &after);
    worker->enough = enough;
    worker->is_inside = was_inside;
    worker->checked = checked;
    if (copy != at_hand)
        xfree(copy);
    return status;
}

/* Encode a chunk or a part of it: the added tokens in it, and what is between them. `lowered` is the same in lower
   case. UNSURE if two tokens overlap, or if a token depends on what is around it. A token that overlaps with no other
   is found whatever is around it. */
static Status encode_around_tokens(Worker *worker, const uint8_t *from, size_t length, const uint8_t *lowered)
{
    const Kernel *kernel = worker->kernel;
    size_t part = 0, found;
    for (size_t at = 0; at < length; at++) {
        if (!(found = token_at(kernel, lowered + at, length - at)))
            continue;
        for (size_t i = at + 1; i < at + found; i++)
            if (token_at(kernel, lowered + i, length - i))
                return UNSURE;
        Status status = encode_part(worker, from + part, at - part);
        size_t count = worker->count;
        if (status == OK)
            status = ask_cached(worker, KEY_TERM, from + at, found);
        if (status != OK || worker->count != count + 1)
            return status != OK ? status : UNSURE;
        if (checkpoint(worker, from + at))
            return FAILED;
        part = at + found;
        at = part - 1;
    }
    return part ? encode_part(worker, from + part, length - part) : UNSURE;
}

/* Encode a chunk or a part of it, if it is printable ASCII and its bytes are enough to find the added tokens in it.
   Otherwise UNSURE. */
static Status settle_tokens(Worker *worker, const uint8_t *from, size_t length)
{
    uint8_t at_hand[WORD_AT_HAND + PADDING];
    size_t count = worker->count;
    if (!worker->kernel->has_patterns || cache_get(worker, KEY_CHUNK, from, length))
        return UNSURE;
    uint8_t *lowered = padded_copy(from, length, at_hand, WORD_AT_HAND);
    if (!lowered)
        return FAILED;
    Status status = lower_ascii(lowered, length) ? encode_around_tokens(worker, from, length, lowered) : UNSURE;
    if (lowered != at_hand)
        xfree(lowered);
    return settle_ids(worker, status, from, length, count);
}

/* The end of a part: the next boundary. `*has_key` becomes true if an added token may cross it. Return NULL for an
   error. */
static const uint8_t *part_end(Worker *worker, const uint8_t *at, const uint8_t *text_end, int *has_key)
{
    const uint8_t *next;
    for (; at < text_end && *at != ' '; at = next) {
        Char known = char_at(worker, at, &next);
        if (known.kind == UNASKED)
            return NULL;
        *has_key |= known.flags & IS_KEY;
        if (*has_key || known.kind == SPACE || (known.kind == ALONE && known.flags & IS_BOUNDARY))
            break;
    }
    return at;
}

/* Encode the part of the chunk around the current position some other way, usually in Python. Encode the whole chunk if
   an added token may cross the part. The ids of its beginning are removed first. */
static Status hand_over(Worker *worker, Chunk *chunk, int has_key)
{
    const uint8_t *from = chunk->part, *stop = chunk->at;
    worker->count = chunk->part_count;
    chunk->has_spaces |= (int8_t)has_key;
    if (!has_key) { /* skipped letters may be keys too */
        stop = part_end(worker, from, chunk->text_end, &has_key);
        if (!stop)
            return FAILED;
        has_key |= stop == from; /* always make progress */
    }
    if (has_key) {
        from = chunk->start;
        stop = chunk_end(chunk->at, chunk->text_end);
        worker->count = chunk->count;
    }
    size_t length = (size_t)(stop - from);
    Status status = settle_tokens(worker, from, length);
    if (status == UNSURE && !has_key && !cache_get(worker, KEY_CHUNK, from, length))
        status = encode_composed(worker, from, length);
    if (status == UNSURE)
        status = ask_cached(worker, KEY_CHUNK, from, length);
    chunk->word = NULL;
    chunk->at = stop;
    set_boundary(worker, chunk, stop);
    return status == OK && checkpoint(worker, stop) ? FAILED : status;
}

/* ---- a chunk, character by character ----------------------------------------------------------------------------- */

/* Whether normalization leaves a character unchanged after the character before it. The order of marks and the
   composition follow Unicode Standard Annex 15. Return 1, 0 if this is not certain, -1 for an error. */
static inline int stays(Worker *worker, Chunk *chunk, Char known, const uint8_t *next)
{
    if (worker->is_composed)
        return 1; /* composing twice changes nothing */
    uint8_t own = known.combining_class, last = chunk->combining_class;
    if (own && own < last)
        return 0; /* the marks would be reordered */
    if (!(known.flags & MAY_COMPOSE) || !chunk->before)
        return 1;
    if (last)
        return own == 0 || own == last; /* the mark in between blocks it */
    if (chunk->before_is_plain < 0) {
        const uint8_t *after;
        chunk->before_is_plain = char_at(worker, chunk->before, &after).flags & IS_PLAIN;
    }
    if (!chunk->before_is_plain || chunk->before_end != chunk->at)
        return 0;
    return stays_apart(worker, chunk->before, (size_t)(next - chunk->before));
}

static inline void note_before(Chunk *chunk, Char known, const uint8_t *next)
{
    chunk->before = chunk->at;
    chunk->before_end = next;
    chunk->before_is_plain = known.flags & IS_PLAIN;
    chunk->combining_class = known.combining_class;
}

/* Append the ids of a run of characters that are words and boundaries, such as Chinese ones. Return its end, or NULL
   without memory. */
static const uint8_t *put_alone(Worker *worker, const uint8_t *at)
{
    for (const uint8_t *next;; at = next) {
        Char known = known_char(worker, code_point_at(at, &next));
        if (known.kind != ALONE || known.flags != IS_BOUNDARY)
            return at;
        if (reserve_ids(worker, 1))
            return NULL;
        worker->ids[worker->count++] = known.id;
    }
}

/* Read a character whose output is certain. */
static inline Status read_certain(Worker *worker, Chunk *chunk, Char known, const uint8_t *next)
{
    if (known.kind == ORDINARY) {
        if (!chunk->word)
            chunk->word = chunk->at;
        note_before(chunk, known, next);
    } else if (known.kind != DELETED) {
        Status status = end_word(worker, chunk);
        if (status)
            return status;
        if (known.kind == ALONE) {
            if (reserve_ids(worker, 1))
                return FAILED;
            worker->ids[worker->count++] = known.id;
            note_before(chunk, known, next);
            if (known.flags == IS_BOUNDARY && !(next = put_alone(worker, next)))
                return FAILED;
        }
        if (known.kind == SPACE || known.flags & IS_BOUNDARY)
            set_boundary(worker, chunk, next);
        chunk->has_spaces |= known.kind == SPACE;
        if (checkpoint(worker, next))
            return FAILED;
    }
    chunk->at = next;
    return OK;
}

static Status read_character(Worker *worker, Chunk *chunk)
{
    const uint8_t *next;
    Char known = char_at(worker, chunk->at, &next);
    if (known.kind == UNASKED)
        return FAILED;
    int is_certain =
        known.kind != HAND_OVER && (known.flags & MAY_PASS ? is_free(worker, chunk) : !(known.flags & IS_KEY));
    if (is_certain && known.kind == ORDINARY)
        is_certain = stays(worker, chunk, known, next);
    if (is_certain)
        return is_certain < 0 ? FAILED : read_certain(worker, chunk, known, next);
    return known.flags & IS_KEY ? TOKEN_IN_CHUNK : TOKEN_IN_PART;
}

/* Encode a chunk from the current position to the space that ends it. */
static Status read_chunk(Worker *worker, Chunk *chunk)
{
    for (;;) {
        pass_simple(worker, chunk);
        int is_end = *chunk->at == ' ';
        Status status = is_end ? end_word(worker, chunk) : read_character(worker, chunk);
        if (status >= TOKEN_IN_PART) {
            status = worker->is_composed ? UNSURE : hand_over(worker, chunk, status == TOKEN_IN_CHUNK);
            is_end = 0;
        }
        if (status || is_end)
            return status;
    }
}

/* Encode the rest of a chunk, and the window that begins with it. */
static Status put_chunk(Worker *worker, Chunk *chunk)
{
    Status status = read_chunk(worker, chunk);
    const uint8_t *reach = chunk->start;
    chunk->stop = chunk->at;
    if (status || !worker->kernel->tree_count || worker->is_inside)
        return status;
    int goes_on = chunk->has_spaces ? 1 : may_go_on(worker, chunk->start, chunk->stop);
    if (goes_on <= 0)
        return goes_on ? FAILED : OK;
    status = widen_window(worker, chunk->start, chunk->at, &chunk->stop, &reach);
    return status == OK && reach > chunk->start ? put_window(worker, chunk) : status;
}

/* ---- many words at once ------------------------------------------------------------------------------------------ */

/* The fast path reads up to 24 words ahead. Each is followed by ASCII. If there are terms, each is ASCII of at most 15
   bytes. Their entries are far apart in memory, so all of them are prefetched before the first is used. There is no
   checkpoint in between, so the entries stay valid. */
enum {
    WORDS_AT_ONCE = 24,
    IDS_AT_ONCE = WORDS_AT_ONCE * (IDS_IN_ENTRY + 1) + IDS_IN_ENTRY,
    BYTES_AT_ONCE = 1 << 16,
    LONGEST_AHEAD = 96 /* in bytes */
};

typedef struct {
    Pair key;
    uint64_t hash;
    const Entry *entry; /* the entry in the first slot; it may belong to another word */
    const uint8_t *at;
    int32_t follow;
    uint32_t length, after; /* of the word, and of what follows it: one character and perhaps a space */
    uint32_t ends_chunk;
} AheadWord;

/* For each of the next 64 bytes: `ends`, it is not an ASCII letter or digit; `spaces`, it is a space right after
   another such byte. Both are 0 if unknown. */
typedef struct {
    uint64_t ends, spaces;
} Ends;

static inline Ends ends_at(const uint8_t *at)
{
    Ends bits = {0, 0};
    for (int i = 0; i < 64; i += 16) {
        bits.ends |= (uint64_t)(~alphanumeric_bits(at + i) & 0xffff) << i;
        bits.spaces |= (uint64_t)space_bits(at + i) << i;
    }
    bits.spaces &= (bits.ends & ~bits.spaces) << 1;
    return bits;
}

/* The length of a run of simple characters, of which the first `length` bytes are known. Stops after LONGEST_AHEAD. */
static inline size_t simple_length(const Worker *worker, const uint8_t *at, size_t length)
{
    const uint8_t *next;
    while (length <= LONGEST_AHEAD && at[length] < 0xf0 && is_simple(worker, code_point_at(at + length, &next)))
        length = (size_t)(next - at);
    return length;
}

/* Read words and the character after each, until something needs a closer look. Return the number of words. */
static inline size_t read_ahead(const Worker *worker, const uint8_t *at, const uint8_t *end, AheadWord *words)
{
    const Cache *cache = &worker->cache;
    const size_t most = worker->kernel->tree_count ? LONGEST_SHORT : LONGEST_AHEAD;
    size_t count = 0;
    Ends bits = {0, 0};
    for (; count < WORDS_AT_ONCE && at < end; count++) {
        AheadWord *word = &words[count];
        for (; UNLIKELY((at[0] == ' ') & (at[1] == ' ')) && at + 1 < end; at++)
            bits = (Ends){bits.ends >> 1, bits.spaces >> 1}; /* several spaces are like one */
        if (!bits.ends && !(bits = ends_at(at)).ends)
            break;
        size_t length = lowest_bit(bits.ends);
        if (at[length] >= 0x80 && most > LONGEST_SHORT) {
            length = simple_length(worker, at, length);
            bits = length < 64 ? bits : (Ends){0, 0};
        }
        if (length > most)
            break;
        word->follow = worker->follow[at[length]];
        if (word->follow == LOOK_CLOSER)
            break;
        word->key = key_of(cache, KEY_WORD, at, length);
        word->hash = hash_of_key(cache, word->key);
        PREFETCH(&cache->slots[word->hash & cache->mask]);
        word->at = at;
        word->length = (uint32_t)length;
        uint32_t after = 1 + (uint32_t)(bits.spaces >> (length & 63) >> 1 & 1);
        word->after = after;
        word->ends_chunk = (word->follow == CHUNK_ENDS) | (after > 1);
        bits = (Ends){bits.ends >> (length & 63) >> after, bits.spaces >> (length & 63) >> after};
        at += length + after;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t number = cache->slots[words[i].hash & cache->mask] & cache->mask;
        words[i].entry = number ? entry_of(cache, number) : NULL;
        PREFETCH(words[i].entry);
    }
    return count;
}

/* Whether the first slot has the right entry, and the ids are in it. This is so for most words. */
static inline int is_at_hand(const AheadWord *word)
{
    const Entry *entry = word->entry;
    if (!entry)
        return 0;
    return (((entry->low ^ word->key.low) | (entry->high ^ word->key.high)) == 0) & (entry->count <= IDS_IN_ENTRY)
           & (word->length <= LONGEST_SHORT);
}

/* The entry of a word that was read ahead, or NULL. */
static inline const Entry *entry_of_word(const Worker *worker, const AheadWord *word)
{
    uint64_t at;
    if (LIKELY(word->entry && word->entry->low == word->key.low && word->entry->high == word->key.high
               && word->length <= LONGEST_SHORT))
        return word->entry;
    return cache_find(&worker->cache, word->key, word->hash, word->at, word->length, &at);
}

/* Whether a term may begin in a word, judging by its entry and the bytes after it. Without branches, because about half
   of all words begin some term. */
static inline int may_begin_term(const AheadWord *word, const Entry *entry)
{
    uint32_t bytes, after = entry->after;
    memcpy(&bytes, word->at + word->length + 1, EDGE);
    int is_after = (after & after_bit(bytes)) != 0, is_unsure = after != 0 && !are_printable(bytes);
    return is_after | is_unsure;
}

/* Extend a window by the terms that begin in the next words. Stop at a word that is not cached; return its start. */
static const uint8_t *widen_by_words(
    Worker *worker, Chunk *chunk, const AheadWord *word, size_t count, const uint8_t **reach, Status *status)
{
    const uint8_t *at = word->at + word->length + word->after;
    for (; --count && (++word)->at < chunk->stop && *status == OK; at = word->at + word->length + word->after) {
        const Entry *entry = word->length ? entry_of_word(worker, word) : NULL;
        if (word->length && !entry)
            return word->at;
        if (entry && may_begin_term(word, entry))
            *status = walk_starts(worker, word->at, word->length, starts_of(entry), entry->starts, reach);
        if (*reach > chunk->stop)
            chunk->stop = chunk_end(*reach, worker->text_end);
    }
    return at;
}

/* Look for a term that begins in the current word, from which `left` words have been read ahead. If there is one, set
   `chunk->stop`. */
static Status look_for_term(
    Worker *worker, Chunk *chunk, const AheadWord *word, size_t left, const int32_t *starts, size_t count)
{
    const uint8_t *after = word->at + word->length, *reach = after;
    if (worker->is_inside)
        return OK;
    Status status = walk_starts(worker, word->at, word->length, starts, count, &reach);
    if (status || reach == after)
        return status;
    chunk->stop = chunk_end(reach, worker->text_end);
    const uint8_t *at = widen_by_words(worker, chunk, word, left, &reach, &status);
    if (status == OK && at < chunk->stop)
        status = widen_window(worker, at, chunk->stop, &chunk->stop, &reach);
    return status ? status : TERM_FOUND;
}

/* Append the ids of the current word, from which `left` words have been read ahead, and look for a term. */
static inline Status put_ahead_word(Worker *worker, Chunk *chunk, const AheadWord *word, size_t left)
{
    const Entry *entry = entry_of_word(worker, word);
    if (UNLIKELY(!entry)) {
        chunk->at = word->at + word->length;
        Status status = work_out_word(worker, chunk, word->at, word->length);
        if (status == OK)
            status = look_for_term(worker, chunk, word, left, worker->ids + worker->count, chunk->starts.count);
        return status == OK && reserve_ids(worker, IDS_AT_ONCE) ? FAILED : status;
    }
    if (put_entry(worker, entry) || (entry->count > IDS_IN_ENTRY && reserve_ids(worker, IDS_AT_ONCE)))
        return FAILED;
    if (!worker->kernel->tree_count || !may_begin_term(word, entry))
        return OK;
    const int32_t *starts = starts_of(entry);
    if (LIKELY(entry->starts == 2) && LIKELY(!may_start(worker->kernel, word->at, word->length, starts[1])))
        return OK;
    return look_for_term(worker, chunk, word, left, starts, entry->starts);
}

static inline void next_chunk(Chunk *chunk, const uint8_t *at, size_t count)
{
    chunk->start = chunk->part = at;
    chunk->count = chunk->part_count = count;
    chunk->is_free = -1;
}

/* Encode the window that begins with a chunk, and continue after it. */
static inline Status pass_window(Worker *worker, Chunk *chunk)
{
    Status status = put_window(worker, chunk);
    if (status == OK && reserve_ids(worker, IDS_AT_ONCE))
        status = FAILED;
    next_chunk(chunk, chunk->stop + 1, worker->count);
    chunk->stop = NULL;
    return status;
}

/* The words that were read ahead, and how many of them are encoded. */
typedef struct {
    AheadWord words[WORDS_AT_ONCE];
    size_t read, done;
    const uint8_t *at; /* the end of the last encoded word */
    int has_jumped;    /* whether a window was encoded that ends after all words that were read ahead */
} Ahead;

/* Encode a word that needs more than a copy of its ids, and the window that begins with it, if there is one. */
static Status put_other_word(Worker *worker, Chunk *chunk, Ahead *ahead)
{
    Status status = put_ahead_word(worker, chunk, &ahead->words[ahead->done], ahead->read - ahead->done);
    if (status != TERM_FOUND)
        return status;
    status = pass_window(worker, chunk);
    if (status)
        return status;
    ahead->at = chunk->start;
    while (ahead->done + 1 < ahead->read && ahead->words[ahead->done + 1].at < ahead->at)
        ahead->done++;
    ahead->has_jumped = ahead->done + 1 == ahead->read;
    return TERM_FOUND;
}

/* Encode the words that were read ahead, and what is between them. */
static Status put_words(Worker *worker, Chunk *chunk, Ahead *ahead)
{
    const int has_terms = worker->kernel->tree_count > 0;
    int32_t *ids = worker->ids;
    size_t count = worker->count;
    for (ahead->done = 0; ahead->done < ahead->read; ahead->done++) {
        const AheadWord *word = &ahead->words[ahead->done];
        if (LIKELY(is_at_hand(word)) && LIKELY(!has_terms || !may_begin_term(word, word->entry))) {
            memcpy(ids + count, word->entry->ids, sizeof word->entry->ids); /* a constant size is fast */
            count += word->entry->count;
        } else if (word->length) {
            worker->count = count;
            Status status = put_other_word(worker, chunk, ahead);
            ids = worker->ids;
            count = worker->count;
            if (status == TERM_FOUND)
                continue;
            if (status)
                return status;
        }
        ids[count] = word->follow;
        count += word->follow >= 0;
        ahead->at = word->at + word->length + word->after;
        if (LIKELY(word->ends_chunk)) {
            next_chunk(chunk, ahead->at, count);
        } else if (word->follow < 0) {
            chunk->part = ahead->at;
            chunk->part_count = count;
        }
    }
    worker->count = count;
    return OK;
}

/* Encode words from the beginning of a chunk, up to about `end` or to something that needs a closer look. `chunk`
   becomes the chunk at that position. */
static Status pass_words(Worker *worker, Chunk *chunk, const uint8_t *end)
{
    Ahead ahead = {.read = WORDS_AT_ONCE, .done = WORDS_AT_ONCE, .at = chunk->at};
    Status status = OK;
    while (ahead.done == ahead.read && (ahead.read == WORDS_AT_ONCE || ahead.has_jumped) && ahead.at < end && !status) {
        ahead.read = read_ahead(worker, ahead.at, end, ahead.words);
        ahead.has_jumped = 0;
        status = reserve_ids(worker, IDS_AT_ONCE) ? FAILED : put_words(worker, chunk, &ahead);
    }
    chunk->at = ahead.at;
    chunk->before = ahead.at > chunk->part ? ahead.at - 1 : NULL;
    chunk->before_end = ahead.at;
    chunk->before_is_plain = 1;                   /* as all ASCII is */
    return status >= TOKEN_IN_PART ? OK : status; /* `read_chunk` finds it again */
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Encode a padded text, and the rest of its last window, which may end later. `*after` becomes the place where the next
   text would begin; the fast path may already be past the last space. */
static Status encode_padded(Worker *worker, const uint8_t *text, size_t size, const uint8_t **after)
{
    const uint8_t *at = text, *text_end = text + size;
    worker->checked = text;
    if (UNLIKELY(!worker->has_letters) && ask_about_letters(worker))
        return FAILED;
    while (at < text_end && worker->count < worker->enough) {
        Chunk chunk = new_chunk(worker, at, text_end);
        Status status = OK;
        size_t left = worker->enough - worker->count, most = left / 3 < BYTES_AT_ONCE ? 3 + 3 * left : BYTES_AT_ONCE;
        const uint8_t *end = (size_t)(text_end - at) > most ? at + most : text_end;
        if (worker->are_letters_simple)
            status = pass_words(worker, &chunk, end);
        if (status == OK && chunk.at >= end && chunk.at == chunk.start && chunk.at < text_end) {
            at = chunk.at; /* nothing of this chunk has been read */
        } else {
            if (status == OK && chunk.at < text_end)
                status = put_chunk(worker, &chunk);
            if (status)
                return status;
            at = chunk.at > text_end && !chunk.stop ? chunk.at : chunk.at + 1; /* after the space */
        }
        if (checkpoint(worker, at))
            return FAILED;
    }
    *after = at;
    return OK;
}

/* Begin a text, or a copy of the rest of it. */
static void begin_text(Worker *worker, const uint8_t *text, size_t size)
{
    enum { AT_FIRST = 4096, A_BYTE = 16 }; /* steps of walks, and more for each byte */
    worker->text_end = text + size;
    worker->walked = 0;
    worker->most_walked = AT_FIRST + A_BYTE * size;
}

/* Encode UTF-8. The end of the text is copied, so that it is padded; or all of it, if its last 4 KB have no space. */
static Status encode_bytes(Worker *worker, const uint8_t *text, size_t size)
{
    const uint8_t *after = text;
    size_t cut = 0;
    begin_text(worker, text, size);
    if (size > TEXT_AT_HAND) {
        for (cut = size - PADDING; cut && text[cut] != ' ' && size - cut <= TEXT_AT_HAND;)
            cut--;
        cut = text[cut] == ' ' ? cut : 0;
    }
    Status status = cut ? encode_padded(worker, text, cut, &after) : OK;
    if (status || after >= text + size || worker->count >= worker->enough)
        return status;
    size -= (size_t)(after - text);
    uint8_t *copy = padded_copy(after, size, worker->text, TEXT_AT_HAND);
    if (!copy)
        return FAILED;
    begin_text(worker, copy, size);
    status = encode_padded(worker, copy, size, &after);
    if (copy != worker->text)
        xfree(copy);
    return status;
}

/* Append the ids of a text. */
Status encode_text(Worker *worker, Text text)
{
    size_t count = worker->count;
    Status status = text.bytes ? encode_bytes(worker, text.bytes, text.size) : WHOLE_TEXT;
    if (status != WHOLE_TEXT)
        return status;
    worker->count = count;
    return ask_for_numbers(worker, IDS, text);
}

/* Append the steps of a padded text, in code points: from the end of the previous chunk to the start of its first
   token, from there to the end of the token, and so on. The space between two chunks counts as one. A window is treated
   as a chunk. */
Status encode_steps(Worker *worker, const uint8_t *text, size_t size)
{
    const uint8_t *at = text, *text_end = text + size;
    worker->checked = text;
    begin_text(worker, text, size);
    for (;;) {
        const uint8_t *stop = chunk_end(at, text_end), *reach = at;
        int goes_on = may_go_on(worker, at, stop);
        Status status = goes_on > 0 ? widen_window(worker, at, stop, &stop, &reach) : goes_on ? FAILED : OK;
        if (status == OK)
            status = ask_cached(worker, KEY_STEPS, at, (size_t)(stop - at));
        if (status)
            return status;
        if (stop == text_end)
            return OK;
        at = stop + 1;
        if (checkpoint(worker, at))
            return FAILED;
    }
}
