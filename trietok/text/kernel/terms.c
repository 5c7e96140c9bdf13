/* Finds added tokens of several words, which are called terms here, such as "New York". Each term has a form: every
   character of it is folded (lower-cased and normalized) separately. Where a term occurs in a text, its form occurs
   in the folded text.

   The forms are in a tree (a trie of bytes). Its nodes are in the order of the sorted forms: the first child of a
   node is the next node, and each child refers to its next sibling. Nodes with many children have a table. A walk
   from the root could begin at any character of a text, and most walks would end soon: "in v" continues only if "in
   vitro" is a term. Two filters avoid most of these walks. The head of a term is everything before its first space;
   its edge is the head and the four bytes after that space. Each cached word knows which bytes may follow it
   (`Entry.after`), and all edges are in one filter by hash.

   If a term may occur, all chunks that it touches are encoded together, as a window. Other terms that begin in the
   window may extend it. No term crosses the end of a window, so its ids do not depend on what is around it, and it
   is cached like a chunk. */
#include "kernel.h"

enum { ROOT, HAS_CHILD = 1, IS_END = 2, FEW_CHILDREN = 3, MOST_NODES = SEVERAL };

struct TermNode {
    uint32_t sibling, table; /* 0 if there is none; tables are counted from 1 */
    uint8_t byte, flags;
};

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* Extend the hash of bytes by one byte in front of them. */
static inline uint64_t hash_in_front(uint64_t hash, uint8_t byte) { return (hash + byte + 1) * FACTOR; }

static inline uint64_t *head_mark(const Tree *tree, uint64_t hash)
{
    return &tree->marks[hash >> 32 & tree->marks_mask];
}

static inline int may_be_head(const Tree *tree, uint64_t hash) { return *head_mark(tree, hash) >> (hash >> 58) & 1; }

/* An element of the table of heads: the upper bits of the hash of the head, the bits of the bytes after it (see
   `after_bit`), and the node after its space. The node is SEVERAL if two heads have the same upper bits. */
enum { HEAD_SHIFT = NODE_BITS + AFTER_BITS };
static inline uint32_t node_of_head(uint64_t head) { return head & SEVERAL; }
static inline uint32_t after_head(uint64_t head) { return head >> NODE_BITS & ANY_AFTER; }

/* The slot of a head, or the free slot for it. A wrong head with the same upper bits only causes a useless search. */
static inline uint64_t *head_place(const Tree *tree, uint64_t hash)
{
    for (uint64_t at = hash >> 20 & tree->heads_mask;; at = (at + 1) & tree->heads_mask)
        if (!tree->heads[at] || tree->heads[at] >> HEAD_SHIFT == hash >> HEAD_SHIFT)
            return &tree->heads[at];
}

/* The child of a node for a byte, or ROOT. */
static inline uint32_t child_of(const Tree *tree, uint32_t number, uint8_t byte)
{
    const TermNode *node = &tree->nodes[number];
    if (node->table)
        return tree->tables[(size_t)(node->table - 1) * tree->width + tree->symbols[byte]];
    for (number = node->flags & HAS_CHILD ? number + 1 : ROOT; number; number = tree->nodes[number].sibling)
        if (tree->nodes[number].byte == byte)
            return number;
    return ROOT;
}

/* The node of at least one byte, or ROOT. */
static uint32_t node_after(const Tree *tree, const uint8_t *folded, size_t length)
{
    uint32_t node = child_of(tree, ROOT, *folded);
    for (size_t i = 1; i < length && node; i++)
        node = child_of(tree, node, folded[i]);
    return node;
}

/* Add the head of a form, and its edge if the head is an ASCII word. */
static void add_edge(Tree *tree, const uint8_t *form, size_t length, size_t head, uint64_t hash, uint32_t node)
{
    uint8_t padded[READ_AT_ONCE] = {0};
    uint32_t after = ANY_EDGE;
    if (length - head > EDGE)
        memcpy(&after, form + head + 1, EDGE);
    uint64_t *place = head_place(tree, hash);
    uint32_t before = node_of_head(*place), bits = after == ANY_EDGE ? ANY_AFTER : after_bit(after);
    *place = (hash >> HEAD_SHIFT << HEAD_SHIFT) | (uint64_t)(after_head(*place) | bits) << NODE_BITS
             | (before && before != node ? SEVERAL : node);
    if (!head || head > LONGEST_SHORT)
        return;
    for (size_t i = 0; i < head; i++)
        if (form[i] >= 0x80)
            return;
    memcpy(padded, form, head);
    tree->edges[tree->edge_count++] = edge_hash(short_key(KEY_WORD, padded, head), after);
}

/* Add what the filters need to know about a form. */
static void add_head(Tree *tree, const uint8_t *form, size_t length, const uint32_t *path)
{
    size_t head = 0;
    uint64_t hash = 0;
    for (; head < length && form[head] != ' '; head++)
        tree->is_in_head[form[head]] = 1;
    for (size_t at = head; at;)
        hash = hash_in_front(hash, form[--at]);
    *head_mark(tree, hash) |= (uint64_t)1 << (hash >> 58);
    if (head < length)
        add_edge(tree, form, length, head, hash, path[head + 1]);
}

static int grow_nodes(Tree *tree, size_t more)
{
    if (tree->count + more <= tree->room)
        return 0;
    size_t room = 2 * (tree->count + more);
    if (room > MOST_NODES)
        return TOO_LARGE;
    TermNode *nodes = xrealloc(tree->nodes, room * sizeof *nodes);
    if (!nodes)
        return NO_MEMORY;
    tree->nodes = nodes;
    tree->room = (uint32_t)room;
    return 0;
}

/* Add a form. The forms are sorted; `path` has the nodes of the previous one, whose bytes are `before`. */
static int add_form(
    Tree *tree, uint32_t *path, const uint8_t *before, size_t before_length, const uint8_t *form, size_t length)
{
    size_t common = 0, shorter = length < before_length ? length : before_length;
    while (common < shorter && form[common] == before[common])
        common++;
    if (common == length || (common < before_length && form[common] < before[common]))
        return TOO_LARGE; /* not sorted, not unique, or empty */
    int result = grow_nodes(tree, length);
    if (result)
        return result;
    if (common < before_length)
        tree->nodes[path[common + 1]].sibling = tree->count;
    for (size_t at = common; at < length; at++) {
        if (at > common || common == before_length)
            tree->nodes[path[at]].flags |= HAS_CHILD;
        path[at + 1] = tree->count;
        tree->nodes[tree->count++] = (TermNode){0, 0, form[at], 0};
        if (form[at] == ' ' && at)
            tree->ends_head[form[at - 1]] = 1;
        tree->symbols[form[at]] = 1;
    }
    tree->nodes[tree->count - 1].flags |= IS_END;
    add_head(tree, form, length, path);
    return 0;
}

static uint32_t count_children(const Tree *tree, uint32_t number)
{
    uint32_t count = 0, child = tree->nodes[number].flags & HAS_CHILD ? number + 1 : ROOT;
    for (; child; child = tree->nodes[child].sibling)
        count++;
    return count;
}

/* Create the tables of the root and of nodes with many children. */
static int make_node_tables(Tree *tree)
{
    uint32_t tables = 0;
    tree->width = 1;
    for (int byte = 0; byte < 256; byte++)
        if (tree->symbols[byte])
            tree->symbols[byte] = (uint8_t)tree->width++;
    for (uint32_t number = 0; number < tree->count; number++)
        if (!number || count_children(tree, number) > FEW_CHILDREN)
            tree->nodes[number].table = ++tables;
    tree->tables = xcalloc((size_t)tables * tree->width, sizeof *tree->tables);
    if (!tree->tables)
        return NO_MEMORY;
    for (uint32_t number = 0; number < tree->count; number++) {
        const TermNode *node = &tree->nodes[number];
        uint32_t child = node->table && node->flags & HAS_CHILD ? number + 1 : ROOT;
        for (; child; child = tree->nodes[child].sibling)
            tree->tables[(size_t)(node->table - 1) * tree->width + tree->symbols[tree->nodes[child].byte]] = child;
    }
    return 0;
}

void tree_free(Tree *tree)
{
    xfree(tree->nodes);
    xfree(tree->tables);
    xfree(tree->marks);
    xfree(tree->edges);
    xfree(tree->heads);
}

static int tree_begin(Tree *tree, size_t forms)
{
    tree->nodes = xcalloc(1, sizeof *tree->nodes);
    tree->count = tree->room = 1;
    tree->marks_mask = power_of_two(forms / 4, 4) - 1; /* 16 bits for each term */
    tree->marks = xcalloc(tree->marks_mask + 1, sizeof *tree->marks);
    tree->edges = xcalloc(forms, sizeof *tree->edges);
    tree->heads_mask = power_of_two(2 * forms, 4) - 1;
    tree->heads = xcalloc(tree->heads_mask + 1, sizeof *tree->heads);
    return tree->nodes && tree->marks && tree->edges && tree->heads ? 0 : NO_MEMORY;
}

/* Fill a tree with a sorted list of strs. Return 0, NO_MEMORY, TOO_LARGE or PYTHON_ERROR. */
int tree_fill(Tree *tree, PyObject *forms)
{
    Py_ssize_t count = PyList_Size(forms), size = 0, longest = 0, before_size = 0;
    const char *form, *before = "";
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyUnicode_AsUTF8AndSize(PyList_GetItem(forms, i), &size))
            return PYTHON_ERROR;
        longest = size > longest ? size : longest;
    }
    uint32_t *path = xcalloc((size_t)longest + 1, sizeof *path);
    int result = tree_begin(tree, (size_t)count);
    for (Py_ssize_t i = 0; i < count && path && !result; i++, before = form, before_size = size) {
        form = PyUnicode_AsUTF8AndSize(PyList_GetItem(forms, i), &size);
        result =
            add_form(tree, path, (const uint8_t *)before, (size_t)before_size, (const uint8_t *)form, (size_t)size);
    }
    result = path ? result : NO_MEMORY;
    xfree(path);
    return result ? result : make_node_tables(tree);
}

/* Create the filter of the edges of all trees. If folding changes ASCII in other ways than its case, every edge is in
   the filter. Return -1 without memory. */
int edges_fill(Kernel *kernel)
{
    size_t count = 0;
    int tells = 1;
    for (uint8_t byte = ' '; byte < 0x7f; byte++)
        tells &= (kernel->folds[byte] | 32) == (byte | 32);
    for (size_t i = 0; i < kernel->tree_count; i++)
        count += kernel->trees[i]->edge_count;
    kernel->edges_mask = power_of_two(tells ? count / 4 : 1, 1) - 1; /* 16 bits for each term */
    kernel->edges = xcalloc(kernel->edges_mask + 1, sizeof *kernel->edges);
    if (!kernel->edges)
        return -1;
    *kernel->edges = tells ? 0 : UINT64_MAX;
    for (size_t i = 0; i < kernel->tree_count; i++)
        for (size_t edge = 0; edge < kernel->trees[i]->edge_count; edge++) {
            uint64_t hash = kernel->trees[i]->edges[edge];
            kernel->edges[hash >> 32 & kernel->edges_mask] |= edge_bits(hash);
        }
    return 0;
}

/* ---- walks ------------------------------------------------------------------------------------------------------- */

/* Find the terms whose head is the end of a word. For each one, write two numbers after the ids of the worker, where
   there is enough space: the tree and the node after the space; and where in the word the head begins, or ANY_PLACE if
   the filter of edges does not know this term. */
Starts find_starts(Worker *worker, const uint8_t *word, size_t length)
{
    const Kernel *kernel = worker->kernel;
    Starts starts = {0, 0};
    if (length > LONGEST_SHORT || !kernel->tree_count || !is_alphanumeric(*word))
        return starts;
    uint8_t padded[2 * READ_AT_ONCE] = {0}, folded[READ_AT_ONCE];
    int32_t *to = worker->ids + worker->count;
    memcpy(padded, word, length);
    for (size_t i = 0; i < length; i++)
        folded[i] = word[i] < 0x80 ? kernel->folds[word[i]] : 0;
    for (size_t number = 0; number < kernel->tree_count; number++) {
        const Tree *tree = kernel->trees[number];
        uint64_t hash = 0;
        for (size_t from = length; from-- && word[from] < 0x80;) {
            hash = hash_in_front(hash, folded[from]);
            uint64_t head = may_be_head(tree, hash) ? *head_place(tree, hash) : 0;
            uint32_t node = node_of_head(head);
            if (node == SEVERAL && (node = node_after(tree, folded + from, length - from)))
                node = child_of(tree, node, ' ');
            if (!node)
                continue;
            int is_told = has_no_edge(kernel, short_key(KEY_WORD, padded + from, length - from), ANY_EDGE);
            to[starts.count++] = (int32_t)(number << NODE_BITS | node);
            to[starts.count++] = is_told ? (int32_t)from : ANY_PLACE;
            starts.after |= is_told ? after_head(head) : ANY_AFTER;
        }
    }
    return starts;
}

/* Write the folded form of a character after the ids of the worker. Return its length, or -1 for an error. */
static int fold_at(Worker *worker, const uint8_t *at, const uint8_t **next)
{
    size_t count = worker->count;
    if (code_point_at(at, next) < 0x80) {
        uint8_t folded = worker->kernel->folds[*at];
        if (folded == DELETED_FOLD)
            return 0;
        if (reserve_ids(worker, 1))
            return -1;
        worker->ids[count] = folded;
        return 1;
    }
    uint8_t last[READ_AT_ONCE] = {0};
    size_t size = (size_t)(*next - at);
    if (UNLIKELY(worker->text_end - at < READ_AT_ONCE))
        at = memcpy(last, at, size);
    if (ask_cached(worker, KEY_FOLD, at, size))
        return -1;
    size_t length = worker->count - count;
    worker->count = count;
    return (int)length;
}

/* Walk down a tree from a node. Move `*reach` to the end of the longest term. */
static Status walk(Worker *worker, const Tree *tree, uint32_t node, const uint8_t *at, const uint8_t **reach)
{
    const uint8_t *next, *start = at;
    for (; node && tree->nodes[node].flags & HAS_CHILD && at < worker->text_end; at = next) {
        const uint8_t folded = *at < 0x80 ? worker->kernel->folds[*at] : DELETED_FOLD;
        if (folded != DELETED_FOLD) {
            next = at + 1;
            node = child_of(tree, node, folded);
            if (tree->nodes[node].flags & IS_END && next > *reach)
                *reach = next;
            continue;
        }
        int length = fold_at(worker, at, &next);
        if (length < 0)
            return FAILED;
        for (int i = 0; i < length && node; i++) {
            node = child_of(tree, node, (uint8_t)worker->ids[worker->count + (size_t)i]);
            if (tree->nodes[node].flags & IS_END && next > *reach)
                *reach = next;
        }
    }
    worker->walked += (size_t)(at - start);
    return worker->walked > worker->most_walked ? WHOLE_TEXT : OK;
}

/* Continue after a word and a space from the starts of the word. */
Status walk_starts(
    Worker *worker, const uint8_t *word, size_t length, const int32_t *starts, size_t count, const uint8_t **reach)
{
    const Kernel *kernel = worker->kernel;
    int32_t copied[MOST_STARTS]; /* a walk may move the buffer that contains them */
    Status status = OK;
    if (!count || kernel->folds[word[length]] != ' ')
        return OK;
    memcpy(copied, starts, count * sizeof *starts);
    for (size_t i = 0; i < count && status == OK; i += 2)
        if (may_start(kernel, word, length, copied[i + 1]))
            status = walk(worker, kernel->trees[(uint32_t)copied[i] >> NODE_BITS], (uint32_t)copied[i] & SEVERAL,
                word + length + 1, reach);
    return status;
}

/* Walk down all trees from a character with this folded form. */
static Status walk_from(Worker *worker, const uint8_t *bytes, size_t length, const uint8_t *next, const uint8_t **reach)
{
    const Kernel *kernel = worker->kernel;
    Status status = OK;
    for (size_t number = 0; number < kernel->tree_count && status == OK; number++)
        for (size_t first = 0; first < length && status == OK; first++) {
            uint32_t node = node_after(kernel->trees[number], bytes + first, length - first);
            if (node)
                status = walk(worker, kernel->trees[number], node, next, reach);
        }
    return status;
}

/* Search for terms that begin between `from` and `to`, and extend the window, which ends at `*stop`. */
Status widen_window(Worker *worker, const uint8_t *from, const uint8_t *to, const uint8_t **stop, const uint8_t **reach)
{
    const uint8_t *next;
    Status status = OK;
    for (; from < to && status == OK; from = next) {
        uint8_t bytes[LONGEST_OUTPUT];
        int length = fold_at(worker, from, &next);
        if (length < 0)
            return FAILED;
        length = length < LONGEST_OUTPUT ? length : LONGEST_OUTPUT;
        for (int i = 0; i < length; i++)
            bytes[i] = (uint8_t)worker->ids[worker->count + (size_t)i];
        status = walk_from(worker, bytes, (size_t)length, next, reach);
        if (*reach > *stop)
            to = *stop = chunk_end(*reach, worker->text_end);
    }
    return status;
}

/* Whether a term may begin in a chunk and continue after it. Return -1 for an error. */
int may_go_on(Worker *worker, const uint8_t *start, const uint8_t *stop)
{
    const uint8_t *at = stop, *next;
    if (!worker->kernel->tree_count || worker->is_inside || start == stop)
        return 0;
    while ((*--at & 0xc0) == 0x80)
        continue;
    int length = fold_at(worker, at, &next);
    if (length <= 0)
        return length ? -1 : 1;
    return worker->kernel->ends_head[worker->ids[worker->count + (size_t)length - 1]];
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* The longest term at some position. */
typedef struct {
    int32_t id; /* or NO_ID */
    uint16_t length;
    uint8_t is_single_word;
} Found;

/* Find the longest term of one tree at a position in a window. Python knows its id and its option `single_word`. UNSURE
   if Python has to look at the text. */
static Status find_term(
    Worker *worker, const Tree *tree, const uint8_t *window, size_t from, size_t length, Found *found)
{
    uint32_t node = ROOT;
    for (size_t at = from; at < length && (at == from || node); at++) {
        node = child_of(tree, node, window[at]);
        if (!(tree->nodes[node].flags & IS_END))
            continue;
        size_t count = worker->count, size = at + 1 - from;
        Status status = ask_cached(worker, KEY_TERM, window + from, size);
        size_t numbers = worker->count - count;
        worker->count = count;
        if (status || numbers != 2)
            return status ? status : UNSURE;
        if (found->id == NO_ID || size > found->length)
            *found = (Found){worker->ids[count], (uint16_t)size, (uint8_t)worker->ids[count + 1]};
    }
    return OK;
}

/* Find the longest term at each position of a folded window. */
static Status find_terms(Worker *worker, const uint8_t *window, size_t length, Found *found)
{
    const Kernel *kernel = worker->kernel;
    uint64_t hash = 0;
    int is_before_space = 0;
    Status status = OK;
    for (size_t from = length; from-- && status == OK;) {
        hash = window[from] == ' ' ? 0 : hash_in_front(hash, window[from]);
        is_before_space |= window[from] == ' ';
        found[from].id = NO_ID;
        for (size_t i = 0; i < kernel->tree_count && is_before_space && status == OK; i++)
            if (may_be_head(kernel->trees[i], hash))
                status = find_term(worker, kernel->trees[i], window, from, length, &found[from]);
    }
    return status;
}

static int is_word_byte(uint8_t byte) { return is_alphanumeric(byte) || byte == '_'; }

/* Encode a window, if it is printable ASCII and its folded form is enough to find the terms in it: from left to right,
   the longest term at each position. Otherwise UNSURE. */
static Status settle_window(Worker *worker, const uint8_t *window, size_t length)
{
    uint8_t folded[LONGEST_KEY + READ_AT_ONCE] = {0};
    Found found[LONGEST_KEY];
    size_t part = 0;
    if (length > LONGEST_KEY || !has_no_token(worker->kernel, window, window + length))
        return UNSURE;
    for (size_t i = 0; i < length; i++)
        folded[i] = worker->kernel->folds[window[i]];
    Status status = find_terms(worker, folded, length, found);
    for (size_t at = 0, next; at < length && status == OK; at = next) {
        next = found[at].id == NO_ID ? at + 1 : at + found[at].length;
        int touches_word = (at && is_word_byte(folded[at - 1])) || (next < length && is_word_byte(folded[next]));
        if (found[at].id == NO_ID || (found[at].is_single_word && touches_word))
            continue;
        status = encode_part(worker, window + part, at - part);
        if (status == OK && reserve_ids(worker, 1))
            status = FAILED;
        if (status == OK)
            worker->ids[worker->count++] = found[at].id;
        part = next;
    }
    return status == OK ? encode_part(worker, window + part, length - part) : status;
}

/* Encode a window. It replaces the ids of its first chunk. */
Status put_window(Worker *worker, Chunk *chunk)
{
    size_t length = (size_t)(chunk->stop - chunk->start), count = chunk->count;
    const Entry *entry = cache_get(worker, KEY_CHUNK, chunk->start, length);
    chunk->at = chunk->stop;
    worker->count = count;
    if (entry)
        return put_entry(worker, entry);
    Status status = settle_window(worker, chunk->start, length);
    status = settle_ids(worker, status, chunk->start, length, count);
    return status == UNSURE ? ask_cached(worker, KEY_CHUNK, chunk->start, length) : status;
}
