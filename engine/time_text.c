/* Spans and dates as text, read and written exactly: no floats, no locale, no time zone tables. */
#include "lapse/time.h"

#include <string.h>

struct unit {
    const char *word;
    int64_t ns;
    bool printed; /* weeks are read, not written */
};

static const struct unit units[] = {
    {"w", 7 * 24 * 3600 * LAPSE_NS_PER_S, false},
    {"d", 24 * 3600 * LAPSE_NS_PER_S, true},
    {"h", 3600 * LAPSE_NS_PER_S, true},
    {"m", 60 * LAPSE_NS_PER_S, true},
    {"s", LAPSE_NS_PER_S, true},
    {"ms", LAPSE_NS_PER_MS, true},
    {"us", LAPSE_NS_PER_US, true},
    {"ns", 1, true},
};

enum { UNIT_COUNT = sizeof(units) / sizeof(units[0]), DECIMALS_MAX = 9 };

/* A date taken apart. */
struct civil {
    int64_t year, month, day, hour, minute, second, ns;
};

static bool is_digit(char c);
static bool is_letter(char c);
static size_t print_u64(uint64_t value, size_t width, char *buf);
static const struct unit *find_unit(const char *text, size_t len);
static bool scan_number(const char *text, size_t len, size_t *pos, int64_t *ret);
static bool scan_fixed(const char *text, size_t len, size_t *pos, size_t digits, char closing,
                       int64_t *ret);
static bool scan_decimals(const char *text, size_t len, size_t *pos, int64_t *ret_ns);
static bool scan_civil(const char *text, size_t len, struct civil *ret);
static int64_t days_before_year(int64_t year);
static int64_t month_days(int64_t year, int64_t month);
static int64_t days_of(const struct civil *civil);
static void civil_of_days(int64_t days, struct civil *ret);

char *lapse_span_print(struct lapse_span span, char *buf) {
    uint64_t rest = span.ns < 0 ? (uint64_t)0 - (uint64_t)span.ns : (uint64_t)span.ns;
    size_t used = 0;
    if (rest == 0) {
        memcpy(buf, "0s", 3);
        return buf;
    }
    if (span.ns < 0) {
        buf[used++] = '-';
    }
    for (int i = 0; i < UNIT_COUNT; i++) {
        uint64_t unit = (uint64_t)units[i].ns;
        if (!units[i].printed || rest < unit) {
            continue;
        }
        used += print_u64(rest / unit, 1, buf + used);
        rest %= unit;
        size_t len = strlen(units[i].word);
        memcpy(buf + used, units[i].word, len);
        used += len;
    }
    buf[used] = '\0';
    return buf;
}

enum lapse_status lapse_span_scan(const char *text, size_t len, struct lapse_span *ret,
                                  size_t *ret_used) {
    int64_t total = 0;
    size_t pos = 0;
    *ret_used = 0;
    if (len == 0 || !is_digit(text[0])) {
        return LAPSE_INVALID;
    }
    while (pos < len && is_digit(text[pos])) {
        int64_t number = 0;
        bool first = pos == 0;
        bool exact = scan_number(text, len, &pos, &number);
        size_t end = pos;
        while (end < len && is_letter(text[end])) {
            end++;
        }
        *ret_used = pos;
        const struct unit *unit = find_unit(text + pos, end - pos);
        if (unit == NULL) {
            /* A lone 0 is the one number that means the same in every unit. */
            bool lone = first && exact && number == 0 && end == pos;
            ret->ns = lone ? 0 : ret->ns;
            return lone ? LAPSE_OK : LAPSE_INVALID;
        }
        *ret_used = pos = end;
        if (!exact || !lapse_ns_mul(number, unit->ns, &number) ||
            !lapse_ns_add(total, number, &total)) {
            return LAPSE_RANGE;
        }
    }
    ret->ns = total;
    return LAPSE_OK;
}

char *lapse_wall_print(struct lapse_wall wall, char *buf) {
    const int64_t day_ns = 24 * 3600 * LAPSE_NS_PER_S;
    int64_t days = wall.ns / day_ns;
    int64_t rest = wall.ns % day_ns;
    if (rest < 0) {
        rest += day_ns;
        days--;
    }
    struct civil civil = {0};
    civil_of_days(days, &civil);
    int64_t second = rest / LAPSE_NS_PER_S;
    const int64_t parts[] = {civil.year,    civil.month,        civil.day,
                             second / 3600, second % 3600 / 60, second % 60};
    const char closing[] = "--T::";
    size_t used = 0;
    for (size_t i = 0; i < 6; i++) {
        used += print_u64((uint64_t)parts[i], i == 0 ? 4 : 2, buf + used);
        if (i < 5) {
            buf[used++] = closing[i];
        }
    }
    int64_t ns = rest % LAPSE_NS_PER_S;
    if (ns != 0) {
        buf[used++] = '.';
        used += print_u64((uint64_t)ns, DECIMALS_MAX, buf + used);
        while (buf[used - 1] == '0') {
            used--;
        }
    }
    memcpy(buf + used, "Z", 2);
    return buf;
}

enum lapse_status lapse_wall_scan(const char *text, size_t len, struct lapse_wall *ret) {
    struct civil civil = {0};
    if (!scan_civil(text, len, &civil)) {
        return LAPSE_INVALID;
    }
    int64_t seconds = civil.hour * 3600 + civil.minute * 60 + civil.second;
    int64_t days = days_of(&civil);
    /* Before 1970 the whole days reach below the range although the date does not: the day is
     * borrowed from, so that the sum never passes through what cannot be said. */
    int64_t day_seconds = 24 * 3600;
    int64_t total_s = days * day_seconds + seconds;
    int64_t ns = civil.ns;
    if (total_s < 0 && ns > 0) {
        total_s++;
        ns -= LAPSE_NS_PER_S;
    }
    int64_t whole = 0;
    if (!lapse_ns_mul(total_s, LAPSE_NS_PER_S, &whole) || !lapse_ns_add(whole, ns, &whole)) {
        return LAPSE_RANGE;
    }
    ret->ns = whole;
    return LAPSE_OK;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Decimal digits with leading zeros up to width; no terminator. Returns the length. */
static size_t print_u64(uint64_t value, size_t width, char *buf) {
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    size_t used = 0;
    while (used + count < width) {
        buf[used++] = '0';
    }
    while (count > 0) {
        buf[used++] = digits[--count];
    }
    return used;
}

static const struct unit *find_unit(const char *text, size_t len) {
    for (int i = 0; i < UNIT_COUNT; i++) {
        if (strlen(units[i].word) == len && memcmp(units[i].word, text, len) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

/* Reads all digits at *pos; false when they name more than int64 holds (*pos is past them all). */
static bool scan_number(const char *text, size_t len, size_t *pos, int64_t *ret) {
    bool exact = true;
    int64_t value = 0;
    for (; *pos < len && is_digit(text[*pos]); (*pos)++) {
        exact = exact && lapse_ns_mul(value, 10, &value) &&
                lapse_ns_add(value, text[*pos] - '0', &value);
    }
    *ret = value;
    return exact;
}

/* Reads exactly `digits` digits and the character after them ('\0': none is wanted). */
static bool scan_fixed(const char *text, size_t len, size_t *pos, size_t digits, char closing,
                       int64_t *ret) {
    int64_t value = 0;
    for (size_t i = 0; i < digits; i++, (*pos)++) {
        if (*pos >= len || !is_digit(text[*pos])) {
            return false;
        }
        value = value * 10 + (text[*pos] - '0');
    }
    *ret = value;
    if (closing == '\0') {
        return true;
    }
    return *pos < len && text[(*pos)++] == closing;
}

/* Reads ".digits" if it stands at *pos. */
static bool scan_decimals(const char *text, size_t len, size_t *pos, int64_t *ret_ns) {
    if (*pos >= len || text[*pos] != '.') {
        return true;
    }
    (*pos)++;
    int64_t ns = 0;
    int64_t digit_ns = LAPSE_NS_PER_S / 10;
    size_t start = *pos;
    for (; *pos < len && is_digit(text[*pos]); (*pos)++, digit_ns /= 10) {
        ns += (text[*pos] - '0') * digit_ns;
    }
    *ret_ns = ns;
    return *pos > start && *pos - start <= DECIMALS_MAX;
}

static bool scan_civil(const char *text, size_t len, struct civil *ret) {
    size_t pos = 0;
    if (!scan_fixed(text, len, &pos, 4, '-', &ret->year) ||
        !scan_fixed(text, len, &pos, 2, '-', &ret->month) ||
        !scan_fixed(text, len, &pos, 2, 'T', &ret->day) ||
        !scan_fixed(text, len, &pos, 2, ':', &ret->hour) ||
        !scan_fixed(text, len, &pos, 2, ':', &ret->minute) ||
        !scan_fixed(text, len, &pos, 2, '\0', &ret->second) ||
        !scan_decimals(text, len, &pos, &ret->ns)) {
        return false;
    }
    if (pos + 1 != len || text[pos] != 'Z') {
        return false;
    }
    return ret->month >= 1 && ret->month <= 12 && ret->day >= 1 &&
           ret->day <= month_days(ret->year, ret->month) && ret->hour < 24 && ret->minute < 60 &&
           ret->second < 60;
}

/* Days from 0001-01-01 (proleptic Gregorian) to the first of January; year 0 gives -366. */
static int64_t days_before_year(int64_t year) {
    /* Counted from year -399, a 400-year cycle earlier, so that the divisions stay positive. */
    const int64_t cycle_days = 146097;
    int64_t before = year + 399;
    return before * 365 + before / 4 - before / 100 + before / 400 - cycle_days;
}

static int64_t month_days(int64_t year, int64_t month) {
    static const int64_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return lengths[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* Days from 1970-01-01. */
static int64_t days_of(const struct civil *civil) {
    int64_t days = days_before_year(civil->year) - days_before_year(1970);
    for (int64_t month = 1; month < civil->month; month++) {
        days += month_days(civil->year, month);
    }
    return days + civil->day - 1;
}

static void civil_of_days(int64_t days, struct civil *ret) {
    /* A guess that lies a few years off at most, put right by the two loops. */
    int64_t year = 1970 + days / 366;
    while (days < days_before_year(year) - days_before_year(1970)) {
        year--;
    }
    while (days >= days_before_year(year + 1) - days_before_year(1970)) {
        year++;
    }
    int64_t rest = days - (days_before_year(year) - days_before_year(1970));
    int64_t month = 1;
    while (rest >= month_days(year, month)) {
        rest -= month_days(year, month);
        month++;
    }
    ret->year = year;
    ret->month = month;
    ret->day = rest + 1;
}
