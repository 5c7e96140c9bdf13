/* What a call does with a text: chunk by chunk, or by windows, where terms stand.

   In: UTF-8. Out: ids, or the steps from which spans follow, in the call's own buffer. */
#ifndef TRIETOK_KERNEL_TEXTS_H
#define TRIETOK_KERNEL_TEXTS_H

#include "_kernel_chunks.h"

/* ---- windows: what lies between two spaces that no term reaches across -------------------------------------------- */

/* A term may begin in one chunk and end in another. So where one may stand, whatever its flags, all chunks that it
   touches are read at once, and those that another touches which begins in them. A space that no term reaches across is
   like the end of a text, so a window has the same ids wherever it stands, and is remembered like a chunk. */

/* What a character looks like where terms are looked for: bytes, behind the ids of the call. -1 for an error. */
static int fold_at(Call *call, const uint8_t *at, const uint8_t **next)
{
    size_t count = call->count;
    uint8_t folded;
    if (*at >= 0x80) {
        code_point_at(at, next);
        if (put_asked(call, FOLD, call->kernel->fold, at, (size_t)(*next - at), call->text_end))
            return -1;
    } else if (*next = at + 1, (folded = call->kernel->folds[*at]) != DELETED_FOLD) {
        if (need(call, 1))
            return -1;
        call->ids[call->count++] = folded;
    }
    size_t length = call->count - count;
    call->count = count;
    return (int)length;
}

/* Walk on from a node. `*reach` becomes what is behind the last character that a term ends with, if that is further. */
static Outcome walk(Call *call, const Tree *tree, uint32_t node, const uint8_t *at, const uint8_t **reach)
{
    const uint8_t *next, *start = at;
    for (; node && tree->nodes[node].flags & HAS_CHILD && at < call->text_end; at = next) {
        const uint8_t folded = *at < 0x80 ? call->kernel->folds[*at] : DELETED_FOLD;
        if (folded != DELETED_FOLD) {
            next = at + 1;
            node = child_of(tree, node, folded);
            if (tree->nodes[node].flags & IS_END && next > *reach)
                *reach = next;
            continue;
        }
        int length = fold_at(call, at, &next);
        if (length < 0)
            return FAILURE;
        for (int i = 0; i < length && node; i++) {
            node = child_of(tree, node, (uint8_t)call->ids[call->count + (size_t)i]);
            if (tree->nodes[node].flags & IS_END && next > *reach)
                *reach = next;
        }
    }
    call->walked += (size_t)(at - start);
    return call->walked > call->most_walked ? FOR_PLAIN : DONE;
}

/* Look for terms that begin from `from` on, up to `to`. `*stop` becomes the space where the window ends. */
static Outcome widen_window(
    Call *call, const uint8_t *from, const uint8_t *to, const uint8_t **stop, const uint8_t **reach)
{
    const Kernel *kernel = call->kernel;
    const uint8_t *next;
    Outcome outcome = DONE;
    for (; from < to && outcome == DONE; from = next) {
        uint8_t bytes[LONGEST_OUTPUT];
        int length = fold_at(call, from, &next);
        if (length < 0)
            return FAILURE;
        length = length < LONGEST_OUTPUT ? length : LONGEST_OUTPUT;
        for (int i = 0; i < length; i++)
            bytes[i] = (uint8_t)call->ids[call->count + (size_t)i];
        for (size_t number = 0; number < kernel->tree_count && outcome == DONE; number++)
            for (int first = 0; first < length && outcome == DONE; first++) {
                uint32_t node = child_of(kernel->trees[number], ROOT, bytes[first]);
                for (int i = first + 1; i < length && node; i++)
                    node = child_of(kernel->trees[number], node, bytes[i]);
                if (node)
                    outcome = walk(call, kernel->trees[number], node, next, reach);
            }
        if (*reach > *stop)
            to = *stop = chunk_end(*reach, call->text_end);
    }
    return outcome;
}

/* Whether a term may begin in a chunk that `pass_words` has not passed, and go on behind it. -1 for an error. */
static int may_go_on(Call *call, const uint8_t *start, const uint8_t *stop)
{
    const uint8_t *at = stop, *next;
    if (!call->kernel->tree_count || call->is_in_window || start == stop)
        return 0;
    while ((*--at & 0xc0) == 0x80)
        continue;
    int length = fold_at(call, at, &next);
    return length <= 0 ? (length ? -1 : 1) : call->kernel->ends_head[call->ids[call->count + (size_t)length - 1]];
}

/* What the longest term is that begins at a place of a window; -1 for none. */
typedef struct {
    int32_t id;
    uint16_t length;
    uint8_t is_single_word;
} Found;

/* Find the longest term at each place of a window of `length` bytes, all of them folded. UNCERTAIN where one stands of
   which Python has to say more. */
static Outcome find_terms(Call *call, const uint8_t *window, size_t length, Found *found)
{
    const Kernel *kernel = call->kernel;
    uint64_t hash = 0;
    int is_before_space = 0;
    for (size_t from = length; from--;) {
        hash = window[from] == ' ' ? 0 : hash_in_front(hash, window[from]);
        is_before_space |= window[from] == ' ';
        found[from].id = -1;
        for (size_t number = 0; number < kernel->tree_count && is_before_space; number++) {
            const Tree *tree = kernel->trees[number];
            uint32_t node = ROOT;
            if (!may_be_head(tree, hash))
                continue;
            for (size_t at = from; at < length && (at == from || node); at++) {
                node = child_of(tree, node, window[at]);
                if (!(tree->nodes[node].flags & IS_END))
                    continue;
                size_t count = call->count, size = at + 1 - from;
                Outcome outcome = put_asked(call, TERM, kernel->settle, window + from, size, window + length);
                if (outcome || call->count != count + 2) {
                    call->count = count;
                    return outcome ? outcome : UNCERTAIN;
                }
                call->count = count;
                if (found[from].id < 0 || size > found[from].length)
                    found[from] = (Found){call->ids[count], (uint16_t)size, (uint8_t)call->ids[count + 1]};
            }
        }
    }
    return DONE;
}

/* The ids of a window of printable ASCII in which only terms stand that its folded form alone tells: leftmost, longest.
   UNCERTAIN where Python has to say more. */
static Outcome settle_window(Call *call, const uint8_t *window, size_t length)
{
    uint8_t folded[LONGEST_KEY];
    Found found[LONGEST_KEY];
    size_t part = 0;
    if (length > LONGEST_KEY || !has_no_token(call->kernel, window, window + length))
        return UNCERTAIN;
    for (size_t i = 0; i < length; i++)
        folded[i] = call->kernel->folds[window[i]];
    Outcome outcome = find_terms(call, folded, length, found);
    for (size_t at = 0, next; at < length && outcome == DONE; at = next) {
        size_t behind = found[at].id < 0 ? at : at + found[at].length;
        next = behind > at ? behind : at + 1;
        int touches_word = (at && (is_alphanumeric(folded[at - 1]) || folded[at - 1] == '_'))
                           || (behind < length && (is_alphanumeric(folded[behind]) || folded[behind] == '_'));
        if (behind == at || (found[at].is_single_word && touches_word))
            continue;
        outcome = put_part(call, window + part, at - part);
        if (outcome == DONE && need(call, 1))
            outcome = FAILURE;
        if (outcome == DONE)
            call->ids[call->count++] = found[at].id;
        part = behind;
    }
    return outcome == DONE ? put_part(call, window + part, length - part) : outcome;
}

/* Put the ids of a window, in place of what has been put of its first chunk. */
static Outcome put_window(Call *call, Chunk *chunk)
{
    size_t length = (size_t)(chunk->stop - chunk->start), count = chunk->count;
    Known known = recall(&call->kernel->memory, CHUNK, chunk->start, length, call->text_end);
    chunk->at = chunk->stop;
    call->count = count;
    if (known.ids)
        return put_known(call, known) ? FAILURE : DONE;
    Outcome outcome = settle_window(call, chunk->start, length);
    if (outcome == DONE && remember(call, CHUNK, chunk->start, length, call->ids + count, call->count - count))
        outcome = FAILURE;
    if (outcome == UNCERTAIN) {
        call->count = count;
        outcome = put_asked(call, CHUNK, call->kernel->hand_over, chunk->start, length, call->text_end);
    }
    return outcome;
}

/* Put the ids of a chunk that `pass_words` has begun, and of the window that begins with it. */
static Outcome put_chunk(Call *call, Chunk *chunk)
{
    Outcome outcome = encode_chunk(call, chunk);
    const uint8_t *reach = chunk->start;
    chunk->stop = chunk->at;
    int goes_on = outcome ? 0 : chunk->has_spaces ? 1 : may_go_on(call, chunk->start, chunk->stop);
    if (!goes_on || !call->kernel->tree_count || call->is_in_window)
        return outcome;
    outcome = goes_on < 0 ? FAILURE : widen_window(call, chunk->start, chunk->at, &chunk->stop, &reach);
    return outcome == DONE && reach > chunk->start ? put_window(call, chunk) : outcome;
}


/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Words, each with ASCII behind it; of ASCII where terms are looked for. Their entries are far from each other in
   memory, so it is asked for those of many words before the first is looked at. They are read without a rest, which the
   call has after BYTES_AT_ONCE: only there it lets go of what is retired, and looks for signals. */
enum {
    WORDS_AT_ONCE = 24,
    IDS_AT_ONCE = WORDS_AT_ONCE * (IDS_IN_ENTRY + 1) + IDS_IN_ENTRY,
    BYTES_AT_ONCE = 1 << 16,
    LONGEST_AHEAD = 96 /* bytes */
};

typedef struct {
    Pair key;
    uint64_t hash;
    const Entry *entry; /* that the first place leads to; it may be another word's */
    const uint8_t *at;
    int32_t follow;
    uint32_t length, behind; /* bytes: of the word, and of what is read behind it, a sign and perhaps a space */
    uint32_t ends_chunk;
} AsciiWord;

/* Where words end, in the 64 bytes from where they are read: a bit for each byte that is no letter or digit of ASCII,
   and for each space behind a sign. Both are 0 where that has to be looked for. */
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

/* How many bytes of simple characters there are, the first `length` of which are known to be such; of a long word some
   more than LONGEST_AHEAD. */
static inline size_t simple_at(const Kernel *kernel, const uint8_t *at, size_t length)
{
    const uint8_t *next;
    while (length <= LONGEST_AHEAD && at[length] < 0xf0 && is_simple(kernel, code_point_at(at + length, &next)))
        length = (size_t)(next - at);
    return length;
}

/* Read up to so many words and what is behind each, up to what is to be looked at more closely. Returns how many. */
static inline size_t read_words(
    const Kernel *kernel, const Table *table, const uint8_t *at, const uint8_t *end, AsciiWord *words)
{
    const size_t most = kernel->tree_count ? LONGEST_SHORT : LONGEST_AHEAD;
    size_t count = 0;
    Ends bits = {0, 0};
    for (; count < WORDS_AT_ONCE && at < end; count++) {
        AsciiWord *word = &words[count];
        for (; UNLIKELY((at[0] == ' ') & (at[1] == ' ')) && at + 1 < end; at++)
            bits = (Ends){bits.ends >> 1, bits.spaces >> 1}; /* of many spaces the last one ends a chunk as well as each */
        if (!bits.ends && !(bits = ends_at(at)).ends)
            break;
        size_t length = lowest_bit(bits.ends);
        if (at[length] >= 0x80 && most > LONGEST_SHORT) {
            length = simple_at(kernel, at, length);
            bits = length < 64 ? bits : (Ends){0, 0};
        }
        if (length > most)
            break;
        word->follow = atomic_load_explicit(&((Kernel *)kernel)->follow[at[length]], memory_order_relaxed);
        if (word->follow == LOOK_CLOSER)
            break;
        word->key = key_of(&kernel->memory, WORD, at, length, at + READ_AT_ONCE); /* which are there to be read */
        word->hash = hash_of_key(&kernel->memory, word->key.low, word->key.high);
        FETCH((const void *)&table->places[word->hash & table->mask]);
        word->at = at;
        word->length = (uint32_t)length;
        uint32_t behind = 1 + (uint32_t)(bits.spaces >> (length & 63) >> 1 & 1);
        word->behind = behind;
        word->ends_chunk = (word->follow == CHUNK_ENDS) | (behind > 1);
        bits = (Ends){bits.ends >> (length & 63) >> behind, bits.spaces >> (length & 63) >> behind};
        at += length + behind;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t place = atomic_load_explicit(&table->places[words[i].hash & table->mask], memory_order_acquire);
        uint64_t number = place & table->mask;
        words[i].entry = number ? entry_of(table->store, number) : NULL;
        FETCH(words[i].entry);
    }
    return count;
}

/* Whether the first place leads to the entry of a word that was read ahead, and its ids are in it: so it is with most. */
static inline int is_at_hand(const AsciiWord *word)
{
    const Entry *entry = word->entry;
    if (!entry)
        return 0;
    return (((entry->first ^ word->key.low) | (entry->second ^ word->key.high)) == 0) & (entry->count <= IDS_IN_ENTRY)
           & (word->length <= LONGEST_SHORT);
}

/* The entry of a word that was read ahead, or NULL. */
static inline const Entry *entry_of_word(const Table *table, const AsciiWord *word)
{
    uint64_t at;
    int is_whole = word->length <= LONGEST_SHORT; /* the bytes of a longer word are behind its entry */
    if (LIKELY(word->entry && word->entry->first == word->key.low && word->entry->second == word->key.high && is_whole))
        return word->entry;
    return find_entry(table, word->key, word->hash, word->at, word->length, &at);
}

/* Whether a term may begin in a word at such a place, which `find_starts` has put. */
static inline int may_start(const Kernel *kernel, const AsciiWord *word, int32_t place)
{
    uint32_t bytes;
    const uint8_t *from = word->at + place, *behind = word->at + word->length;
    memcpy(&bytes, behind + 1, EDGE);
    return place == ANY_PLACE || !are_printable(bytes)
           || !has_no_edge(kernel, word_key(from, (size_t)(behind - from)), bytes);
}

/* Whether a term may begin in a word, as far as its entry and what is behind it tell. Every other word begins one, so
   nothing branches here. */
static inline int may_begin_term(const AsciiWord *word, const Entry *entry)
{
    uint32_t bytes, behind = entry->behind;
    memcpy(&bytes, word->at + word->length + 1, EDGE);
    int is_behind = (behind & behind_bit(bytes)) != 0, is_unsure = behind != 0 && !are_printable(bytes);
    return is_behind | is_unsure;
}

/* Walk on behind a word of ASCII, by the starts that `find_starts` has put. */
static Outcome walk_behind(Call *call, const AsciiWord *word, const int32_t *starts, size_t count, const uint8_t **reach)
{
    const uint8_t *behind = word->at + word->length;
    int32_t copied[MOST_STARTS]; /* a walk may move what they come from */
    Outcome outcome = DONE;
    if (!count || call->kernel->folds[*behind] != ' ')
        return DONE;
    memcpy(copied, starts, count * sizeof *starts);
    for (size_t i = 0; i < count && outcome == DONE; i += 2) {
        const Tree *tree = call->kernel->trees[(uint32_t)copied[i] >> NODE_BITS];
        if (may_start(call->kernel, word, copied[i + 1]))
            outcome = walk(call, tree, node_of_head((uint32_t)copied[i]), behind + 1, reach);
    }
    return outcome;
}

/* Widen a window by the terms that begin in words behind its first one, as long as these are known. Returns where it is
   to be read on. */
static const uint8_t *widen_by_words(Call *call, Chunk *chunk, const Table *table, const AsciiWord *word, size_t count,
    const uint8_t **reach, Outcome *outcome)
{
    const uint8_t *at = word->at + word->length + word->behind;
    for (; --count && (++word)->at < chunk->stop && *outcome == DONE; at = word->at + word->length + word->behind) {
        const Entry *entry = word->length ? entry_of_word(table, word) : NULL;
        if (word->length && !entry)
            return word->at;
        if (entry && may_begin_term(word, entry))
            *outcome = walk_behind(call, word, starts_of(entry), entry->starts, reach);
        if (*reach > chunk->stop)
            chunk->stop = chunk_end(*reach, call->text_end);
    }
    return at;
}

/* Whether a term stands that begins in a word of ASCII, the first of those that were read ahead; then `chunk->stop` is
   set. */
static Outcome look_behind_word(Call *call, Chunk *chunk, const Table *table, const AsciiWord *word, size_t left,
    const int32_t *starts, size_t count)
{
    const uint8_t *behind = word->at + word->length, *reach = behind;
    if (call->is_in_window)
        return DONE;
    Outcome outcome = walk_behind(call, word, starts, count, &reach);
    if (outcome || reach == behind)
        return outcome;
    chunk->stop = chunk_end(reach, call->text_end);
    const uint8_t *at = widen_by_words(call, chunk, table, word, left, &reach, &outcome);
    if (outcome == DONE && at < chunk->stop)
        outcome = widen_window(call, at, chunk->stop, &chunk->stop, &reach);
    return outcome ? outcome : TERM_STANDS;
}

/* Put the ids of a word, the first of those that were read ahead. */
static inline Outcome put_ascii_word(Call *call, Chunk *chunk, const Table *table, const AsciiWord *word, size_t left)
{
    const Entry *entry = entry_of_word(table, word);
    if (UNLIKELY(!entry)) {
        chunk->at = word->at + word->length;
        Outcome outcome = work_out_word(call, chunk, word->at, word->length);
        if (outcome == DONE)
            outcome = look_behind_word(call, chunk, table, word, left, call->ids + call->count, chunk->starts.count);
        return outcome == DONE && need(call, IDS_AT_ONCE) ? FAILURE : outcome;
    }
    if (put_known(call, known_of(entry)) || (entry->count > IDS_IN_ENTRY && need(call, IDS_AT_ONCE)))
        return FAILURE;
    if (!call->kernel->tree_count || !may_begin_term(word, entry))
        return DONE;
    const int32_t *starts = starts_of(entry);
    if (LIKELY(entry->starts == 2) && LIKELY(!may_start(call->kernel, word, starts[1])))
        return DONE;
    return look_behind_word(call, chunk, table, word, left, starts, entry->starts);
}

static inline void next_chunk(Chunk *chunk, const uint8_t *at, size_t count)
{
    chunk->start = chunk->part = at;
    chunk->count = chunk->part_count = count;
    chunk->is_free = -1;
}

/* Put the ids of the window that begins with a chunk, and go on behind it. */
static inline Outcome pass_window(Call *call, Chunk *chunk)
{
    Outcome outcome = put_window(call, chunk);
    if (outcome == DONE && need(call, IDS_AT_ONCE))
        outcome = FAILURE;
    next_chunk(chunk, chunk->stop + 1, call->count);
    chunk->stop = NULL;
    return outcome;
}

/* Put the ids of words of ASCII and of what is between them, from the beginning of a chunk on: up to about `end`, or to
   what is to be looked at more closely. The chunk is the one that is read there. */
static Outcome pass_words(Call *call, Chunk *chunk, const uint8_t *end)
{
    AsciiWord words[WORDS_AT_ONCE];
    const int has_terms = call->kernel->tree_count > 0;
    Outcome outcome = DONE;
    const uint8_t *at = chunk->at;
    size_t read = WORDS_AT_ONCE, done = read;
    int has_jumped = 0; /* over a window, and with it over what made an end to reading ahead */
    while (done == read && (read == WORDS_AT_ONCE || has_jumped) && at < end) {
        /* Entries that were read ahead are this table's, whatever becomes of the memory meanwhile. */
        const Table *table = table_of(&call->kernel->memory);
        read = read_words(call->kernel, table, at, end, words);
        has_jumped = 0;
        if (need(call, IDS_AT_ONCE))
            return FAILURE;
        int32_t *ids = call->ids;
        size_t count = call->count;
        for (done = 0; done < read; done++) {
            const AsciiWord *word = &words[done];
            if (LIKELY(is_at_hand(word)) && LIKELY(!has_terms || !may_begin_term(word, word->entry))) {
                memcpy(ids + count, word->entry->ids, sizeof word->entry->ids); /* the same each time is quick */
                count += word->entry->count;
            } else if (word->length) {
                call->count = count;
                outcome = put_ascii_word(call, chunk, table, word, read - done);
                int is_passed = outcome == TERM_STANDS && !(outcome = pass_window(call, chunk));
                ids = call->ids;
                count = call->count;
                if (outcome)
                    break;
                if (is_passed) {
                    at = chunk->start;
                    while (done + 1 < read && words[done + 1].at < at)
                        done++;
                    has_jumped = done + 1 == read;
                    continue;
                }
            }
            ids[count] = word->follow;
            count += word->follow >= 0;
            at = word->at + word->length + word->behind;
            if (LIKELY(word->ends_chunk)) {
                next_chunk(chunk, at, count);
            } else if (word->follow < 0) {
                chunk->part = at;
                chunk->part_count = count;
            }
        }
        call->count = count;
    }
    chunk->at = at;
    chunk->before = at > chunk->part ? at - 1 : NULL;
    chunk->before_end = at;
    chunk->before_is_plain = 1; /* all ASCII is */
    return outcome >= TOKEN_IN_PART ? DONE : outcome; /* which the one who goes on finds again */
}

/* Put the ids of a text behind which are a space and more bytes; and of what else belongs to its last window. `*behind`
   is behind the space that ends it. */
static Outcome encode_padded(Call *call, const uint8_t *text, size_t size, const uint8_t **behind)
{
    const uint8_t *at = text, *text_end = text + size;
    _Atomic int *letters = &call->kernel->letters;
    call->looked = text;
    if (UNLIKELY(atomic_load_explicit(letters, memory_order_relaxed) == NOT_ASKED) && ask_about_letters(call))
        return FAILURE;
    int are_simple = atomic_load_explicit(letters, memory_order_relaxed) == ARE_SIMPLE;
    while (at < text_end && call->count < call->enough) {
        Chunk chunk = new_chunk(call, at, text_end);
        Outcome outcome = DONE;
        size_t left = call->enough - call->count, most = left / 3 < BYTES_AT_ONCE ? 3 + 3 * left : BYTES_AT_ONCE;
        const uint8_t *end = (size_t)(text_end - at) > most ? at + most : text_end;
        if (are_simple)
            outcome = pass_words(call, &chunk, end);
        if (outcome == DONE && chunk.at >= end && chunk.at == chunk.start && chunk.at < text_end) {
            at = chunk.at; /* of a chunk of which nothing is read */
        } else {
            if (outcome == DONE && chunk.at < text_end)
                outcome = put_chunk(call, &chunk);
            if (outcome)
                return outcome;
            at = chunk.at > text_end && !chunk.stop ? chunk.at : chunk.at + 1; /* behind the space, as words are passed */
        }
        if (rest(call, at))
            return FAILURE;
    }
    *behind = at;
    return DONE;
}

/* Begin with a text, or a copy of what is left of it. */
static void begin_text(Call *call, const uint8_t *text, size_t size)
{
    call->text_end = text + size;
    call->walked = 0;
    call->most_walked = WALKED_AT_FIRST + WALKED_A_BYTE * size;
}

/* Put the ids of a text. What is at its end is read in a copy, behind which bytes may be read. */
static Outcome encode_text(Call *call, const uint8_t *text, size_t size)
{
    const uint8_t *behind = text;
    size_t cut = 0;
    begin_text(call, text, size);
    if (size > TEXT_AT_HAND) {
        for (cut = size - PADDING; cut && text[cut] != ' ' && size - cut <= TEXT_AT_HAND;)
            cut--;
        cut = text[cut] == ' ' ? cut : 0;
    }
    Outcome outcome = cut ? encode_padded(call, text, cut, &behind) : DONE;
    if (outcome || behind >= text + size || call->count >= call->enough)
        return outcome;
    size -= (size_t)(behind - text);
    uint8_t *copy = padded(behind, size, call->text_at_hand, TEXT_AT_HAND);
    if (!copy)
        return FAILURE;
    begin_text(call, copy, size);
    outcome = encode_padded(call, copy, size, &behind);
    if (copy != call->text_at_hand)
        give_back(copy);
    return outcome;
}

static Outcome encode_item(Call *call, Item item)
{
    size_t count = call->count;
    Outcome outcome = item.bytes ? encode_text(call, item.bytes, item.size) : FOR_PLAIN;
    if (outcome != FOR_PLAIN)
        return outcome;
    call->count = count;
    return ask_for_numbers(call, call->kernel->plain, item, ANY_ID);
}

/* Put the steps of a text: from the end of the last chunk to where its first token starts, from there to where it
   ends, and so on, in code points; of which a space between chunks is one. A window is like a chunk. */
static Outcome put_steps(Call *call, const uint8_t *text, size_t size)
{
    const uint8_t *at = text, *text_end = text + size;
    call->looked = text;
    begin_text(call, text, size);
    for (;;) {
        const uint8_t *stop = chunk_end(at, text_end), *reach = at;
        int goes_on = may_go_on(call, at, stop);
        Outcome outcome = goes_on > 0 ? widen_window(call, at, stop, &stop, &reach) : goes_on ? FAILURE : DONE;
        if (outcome == DONE)
            outcome = put_asked(call, STEPS, call->kernel->steps, at, (size_t)(stop - at), text_end);
        if (outcome)
            return outcome;
        if (stop == text_end)
            return DONE;
        at = stop + 1;
        if (rest(call, at))
            return FAILURE;
    }
}

#endif
