/* The tables of a store file, and the views in which a person reads them.
 *
 * A table `*_rows` holds each field of its kind of row as it is; a view shows the same in words,
 * seconds and dates. Bytes are TEXT where they are UTF-8 without a NUL, else BLOB: one form for
 * each content, so equal bytes are equal values. Store time is shown in seconds; a date beside it
 * is what the last mark makes of it, so it moves if the wall clock was stepped since. */
#include "sqlite_store.h"

#define MARK "(SELECT * FROM mark_rows WHERE peak = 0)"
#define SECONDS(ns) "printf('%d.%09d', (" ns ") / 1000000000, (" ns ") % 1000000000)"
/* ns of Unix time; also before 1970, where division and rest cut towards 0. */
#define DATE_REST(ns) "(((" ns ") % 1000000000 + 1000000000) % 1000000000)"
#define DATE(ns)                                                                                   \
    "strftime('%Y-%m-%dT%H:%M:%S', ((" ns ") - " DATE_REST(ns) ") / 1000000000, 'unixepoch') || "  \
    "printf('.%03dZ', " DATE_REST(ns) " / 1000000)"
/* Of a store time, by the mark m. */
#define ESTIMATE(ns) DATE("m.wall_ns + ((" ns ") - m.store_ns)")
/* Bytes that are no text as X'00ff', which a shell shows whole. */
#define SHOWN(column, name)                                                                        \
    "CASE typeof(" column ") WHEN 'blob' THEN quote(" column ") ELSE " column " END AS " name
/* Where a row `e` ends, with the session `s` it may have. */
#define END_NS "coalesce(s.end_ns, e.end_ns)"
#define END_COLUMNS                                                                                \
    "CASE coalesce(s.end_kind, e.end_kind) WHEN 1 THEN " SECONDS(END_NS)                           \
    " END AS ends_store_s, "                                                                       \
    "CASE coalesce(s.end_kind, e.end_kind) WHEN 1 THEN " ESTIMATE(END_NS)                          \
    " WHEN 2 THEN " DATE(END_NS) " END AS ends_at, "                                               \
    "CASE coalesce(s.end_kind, e.end_kind) WHEN 1 THEN " END_NS " <= m.store_ns"                   \
    " WHEN 2 THEN " END_NS " <= m.wall_ns ELSE 0 END AS ended"
#define SESSION                                                                                    \
    " LEFT JOIN " MARK " m LEFT JOIN session_rows s"                                               \
    " ON e.session <> 0 AND s.incarnation = e.session"
#define TERM                                                                                       \
    "CASE e.source WHEN 0 THEN 'none' WHEN 1 THEN 'own' WHEN 2 THEN 'default'"                     \
    " WHEN 3 THEN 'session' ELSE 'markers' END || CASE e.idle WHEN 1 THEN ' idle' ELSE '' END"     \
    " AS term"

#define KEYED(name, columns, key)                                                                  \
    {"table", name,                                                                                \
     "CREATE TABLE " name " (" columns ", PRIMARY KEY (" key ")) STRICT, WITHOUT ROWID"}
#define VIEW(name, select) {"view", name, "CREATE VIEW " name " AS " select}
#define WHOLE(column) column " INTEGER NOT NULL, "
#define BYTES(column) column " ANY NOT NULL, "
#define CHECKSUM "checksum INTEGER NOT NULL"

static const struct lapse_sqlite_object objects[] = {
    KEYED("mark_rows",
          BYTES("key") WHOLE("peak") WHOLE("revision") WHOLE("store_ns") WHOLE("boot")
          WHOLE("raw_ns") WHOLE("wall_ns") WHOLE("ceiling_store_ns") WHOLE("ceiling_token")
          WHOLE("policies") CHECKSUM,
          "key, peak"),
    KEYED("counter_rows", BYTES("name") WHOLE("value") CHECKSUM, "name"),
    KEYED("session_rows",
          BYTES("name") WHOLE("incarnation") BYTES("owner") WHOLE("end_kind") WHOLE("end_ns")
          WHOLE("span_ns") CHECKSUM,
          "name, incarnation"),
    KEYED("bucket_rows",
          BYTES("bucket") WHOLE("revision") WHOLE("given") WHOLE("ttl_ns") WHOLE("idle_ns")
          WHOLE("cap_ns") WHOLE("markers_ns") WHOLE("history") WHOLE("first_revision")
          WHOLE("ceiling_revision") WHOLE("forgotten") CHECKSUM,
          "bucket"),
    KEYED("record_rows",
          BYTES("bucket") BYTES("key") WHOLE("revision") WHOLE("kind") WHOLE("end_kind")
          WHOLE("end_ns") WHOLE("source") WHOLE("span_ns") WHOLE("idle") WHOLE("cap_ns")
          WHOLE("session") WHOLE("last_ns") WHOLE("written_seq") WHOLE("old_revision")
          WHOLE("why") WHOLE("checksum")
          "value ANY NOT NULL",
          "bucket, key, revision"),
    KEYED("lease_rows",
          BYTES("name") BYTES("owner") WHOLE("token") WHOLE("end_kind") WHOLE("end_ns")
          WHOLE("span_ns") WHOLE("durability") WHOLE("session") CHECKSUM,
          "name"),
    KEYED("request_rows",
          BYTES("id") WHOLE("verb") WHOLE("digest") WHOLE("status") WHOLE("at_ns")
          WHOLE("revision") WHOLE("token") WHOLE("end_kind") WHOLE("end_ns") WHOLE("checksum")
          BYTES("owner") "answers ANY NOT NULL",
          "id"),
    VIEW("buckets",
         "SELECT " SHOWN("bucket", "bucket") ", revision, CASE given WHEN 0 THEN 'none'"
         " WHEN 1 THEN 'ttl' ELSE 'idle' END AS term, "
         SECONDS("ttl_ns + idle_ns") " AS term_s, " SECONDS("cap_ns") " AS cap_s, "
         SECONDS("markers_ns") " AS markers_s, history, first_revision, forgotten,"
         " ceiling_revision"
         " FROM bucket_rows"),
    VIEW("records",
         "SELECT " SHOWN("e.bucket", "bucket") ", " SHOWN("e.key", "key") ", e.revision,"
         " CASE e.kind WHEN 1 THEN 'value' WHEN 2 THEN 'tombstone' WHEN 3 THEN 'marker'"
         " WHEN 4 THEN 'purge' ELSE 'gone' END AS kind, " SHOWN("e.value", "value") ", " TERM ", "
         SECONDS("e.span_ns") " AS term_s, " SHOWN("s.name", "session") ", " END_COLUMNS ","
         " e.revision = (SELECT max(n.revision) FROM record_rows n"
         " WHERE n.bucket = e.bucket AND n.key = e.key) AS newest FROM record_rows e" SESSION),
    VIEW("keys",
         "SELECT bucket, key, value, revision, term, term_s, session, ends_store_s, ends_at, ended"
         " FROM records WHERE newest AND kind = 'value'"),
    VIEW("leases",
         "SELECT " SHOWN("e.name", "name") ", " SHOWN("e.owner", "owner") ", e.token, "
         SECONDS("e.span_ns") " AS span_s, " SHOWN("s.name", "session") ", " END_COLUMNS
         " FROM lease_rows e" SESSION),
    VIEW("sessions",
         "SELECT " SHOWN("s.name", "name") ", " SHOWN("s.owner", "owner") ", s.incarnation, "
         SECONDS("s.span_ns") " AS span_s, " SECONDS("s.end_ns") " AS ends_store_s, "
         ESTIMATE("s.end_ns") " AS ends_at, s.end_ns <= m.store_ns AS ended"
         " FROM session_rows s LEFT JOIN " MARK " m"),
    VIEW("requests",
         "SELECT " SHOWN("r.id", "id") ", r.verb, r.status, " SECONDS("r.at_ns") " AS at_store_s, "
         ESTIMATE("r.at_ns") " AS at, r.revision, r.token, " SHOWN("r.owner", "owner")
         ", r.digest FROM request_rows r LEFT JOIN " MARK " m"),
    VIEW("counters", "SELECT name, value FROM counter_rows"),
    VIEW("marks",
         "SELECT CASE peak WHEN 0 THEN 'mark' ELSE 'peak' END AS mark, revision AS commits, "
         SECONDS("store_ns") " AS store_s, printf('%016x', boot) AS boot, " SECONDS("raw_ns")
         " AS raw_s, " DATE("wall_ns") " AS wall, " SECONDS("ceiling_store_ns")
         " AS ceiling_store_s, ceiling_token, policies FROM mark_rows"),
};

const struct lapse_sqlite_object *lapse_sqlite_schema(size_t n) {
    return n < sizeof(objects) / sizeof(objects[0]) ? &objects[n] : NULL;
}
