/* The traits: everything that chance decides of a document, each with its options. One table, so
 * that what is drawn, how often, and what was never drawn can be printed. */
#ifndef FUZZ_TRAITS_H
#define FUZZ_TRAITS_H

/* X(CONSTANT, "word", "options"). A trait's place is the `who` of its choices. */
#define LAPSE_TRAIT_TABLE(X)                                                                       \
    X(BREADTH, "breadth", "3*1|3*2|2*3|5")                                                         \
    X(SUBJECT, "subject",                                                                          \
      "4*keys|2*idle|2*dates|3*watches|4*leases|2*sessions|2*locks|2*resources|2*requests|"        \
      "batches|2*records|buckets|2*loops|2*careful|edges|flood|2*idioms")                          \
    X(COMPANION, "fault beside watches and loops",                                                 \
      "2*none|2*cut|2*link|2*pause|2*pause n1|suspend|message|crash|rate|revoke")                  \
    X(DATED, "dates beside steps of a wall", "no|yes")                                             \
    X(WIDTH, "width of traits", "wide|narrow")                                                     \
    X(TROUBLE, "trouble", "3*0|3*1|2*2|3|5")                                                       \
    X(FAULT, "fault",                                                                              \
      "2*pause|pause n1|crash|3*crash n1|2*restart n1|suspend|2*suspend n1|3*wall n1|wall|"        \
      "rate n1|rate|cut|cut one way|3*message|2*disk|2*stall|copy|2*reap|revoke|freeze|starve|"    \
      "slow|3*boot|link")                                                                          \
    X(LINK, "link", "3*loss: 100%|duplicate: 100%|latency: 5ms|latency: 40ms|reorder: true")       \
    X(FAULTY, "lines with a fault", "8*no|3*yes")                                                  \
    X(LINES, "lines", "2*4|3*8|3*12|2*20|32")                                                      \
    X(CLIENTS, "clients", "1|4*2|3")                                                               \
    X(CAREFUL, "careful", "yes|no")                                                                \
    X(MARGIN, "margin", "none|500ms|1s|half")                                                      \
    X(TIMER, "timer", "3*none|boot")                                                               \
    X(STORE, "store", "3*none|5*memory|2*sqlite")                                                  \
    X(SYNC, "sync", "5*full|2*normal|none")                                                        \
    X(RATE, "rate bound", "200ppm|1000ppm|50ppb")                                                  \
    X(DRIFT, "drift", "fast|slow|half fast|half slow")                                             \
    X(WALLS, "wall bound", "1s|1h")                                                                \
    X(ORIGIN, "origin", "6*none|wall ahead|wall behind|tick|origin")                               \
    X(REAPER, "reaper", "3*due|2*minute")                                                          \
    X(BUCKETS, "buckets", "3*1|2")                                                                 \
    X(TERM, "bucket term", "5*ttl|2*none|2*idle")                                                  \
    X(SPAN, "span", "100ms|2*1s|2*2s|3s|3*5s|4*10s|2*30s|45s|2*60s|1h")                            \
    X(CAP, "cap", "3*none|2 spans|span|span and a half")                                           \
    X(MARKERS, "markers", "2*none|3*1h|2s|10s")                                                    \
    X(HISTORY, "history", "3*1|2|3|5")                                                             \
    X(FIRST, "first revision", "20*1|100|9223372036854775805")                                     \
    X(BUCKET, "bucket", "2*first|last")                                                            \
    X(KEY, "key", "4*k|2*m|p")                                                                     \
    X(CLIENT, "client", "same|any|any|any")                                                        \
    X(WHEN, "when",                                                                                \
      "3*now|4*landmark|3*landmark-1ns|landmark+1ns|landmark-1ms|2*part|2*second|moment|span|"     \
      "landmark+1s|far")                                                                           \
    X(WHICH, "which landmark", "6*next|3*second|third|last")                                       \
    X(PART, "part of a span", "2*1/2|2*1/3|2*1/30|1/30-1ns|1/30+1ns|2/3|9/10|3/2|2")               \
    X(KEYS, "key verb",                                                                            \
      "6*set|2*create|2*update|4*get|4*entry|has|peek|rev|2*delete|purge|3*expire|2*persist|list|" \
      "all|count|history|rows")                                                                    \
    X(RECORDS, "record verb",                                                                      \
      "4*set|2*delete|3*purge|4*history|2*rev|update|list|get|page")                               \
    X(IDLES, "idle verb", "3*get|2*entry|has|2*peek|list|all|count|history|2*set|expire|watch")    \
    X(OWN, "own term", "4*none|3*ttl|idle|idle cap|2*date|keep|two")                               \
    X(DATE, "date", "4*now+|2*epoch+|past|past 1ns|clock")                                         \
    X(VERSION, "version", "3*none|3*right|old|next|far")                                           \
    X(VALUE, "value", "3*v|w|longer")                                                              \
    X(WATCHED, "watch verb", "4*watch|4*write|2*delete|unwatch|purge")                             \
    X(FROM, "watch from", "3*now|2*live|2*first|2*last|2*one before")                              \
    X(WATCHES, "watch of", "2*bucket|key")                                                         \
    X(LEASE, "lease", "4*jobs/x|jobs/y")                                                           \
    X(LEASES, "lease verb", "5*acquire|4*extend|3*release|3*inspect|wait")                         \
    X(DURABILITY, "durability", "4*none|2*ephemeral|persistent")                                   \
    X(TOKEN, "token", "3*none|4*right|2*old|next")                                                 \
    X(FOR, "lease span", "4*same|2*half|2*double|second|any")                                      \
    X(SESSION, "session", "3*s|r")                                                                 \
    X(SESSIONS, "session verb",                                                                    \
      "3*session|3*keepalive|2*close|3*set|2*acquire|get|inspect|expire")                          \
    X(LOCKS, "lock verb", "3*create|2*update|get|delete|entry|set")                                \
    X(RESOURCE, "resource", "2*fenced|lease|ends|once")                                            \
    X(RESOURCES, "resource verb", "5*write|read|3*acquire")                                        \
    X(REQUEST, "request", "3*write|2*acquire|4*again|batch|delete")                                \
    X(BATCH, "batch of", "4*set|create|delete|update|release|purge|2*close|2*end")                 \
    X(BATCHED, "batch size", "1|3*2|3")                                                            \
    X(BUCKETED, "bucket verb", "open|2*alter|2*set|get")                                           \
    X(EDGE, "edge", "zero|huge|largest|two terms|zero lease|huge lease|past|huge idle")            \
    X(FLOOD, "flood", "4*9|300|2*1100")                                                            \
    X(LOOP, "loop",                                                                                \
      "2*renew|2*write|take|take and give|2*gap|lock|beside|batches|2*lock and work")              \
    X(DENIED, "after a denial", "stop|next")                                                       \
    X(NAMED, "grant named", "by token|by owner")                                                   \
    X(LATE, "renewal answered past a deadline", "3*none|first|second")                             \
    X(PERIOD, "period",                                                                            \
      "3*third|half|tenth|second|nine tenths|span|2*just before")                                  \
    X(LIVES, "length of a loop", "2*2 spans|3 spans|5 spans|3*0: no end")                          \
    X(TIMEOUT, "timeout", "2*1s|100ms|5s|span|double")                                             \
    X(FAULT_FOR, "fault span", "2*second|3*past a landmark|2*span|double|moment|half|none")        \
    X(MESSAGE, "message",                                                                          \
      "request lost|2*reply lost|2*request twice|reply twice|2*request late|2*reply late|moment")  \
    X(INSIDE, "lines inside a fault", "2*0|1|2|3")                                                 \
    X(CUT_OFF, "cut off", "any|who watches")                                                       \
    X(LAST, "last lines", "3*any|2*in a fault")                                                    \
    X(MACHINE, "machine", "no|yes")                                                                \
    X(BETWEEN, "between a step and a start", "nothing|write|2*date")                               \
    X(BURST, "reads again", "9*none|moments|hundredths")                                           \
    X(WALL_BY, "wall by", "+1s|-1s|+1h|-1h|2*+span|2*-span|+1ms|-1ns|+1d|-30d|to epoch|to later")  \
    X(DISK, "disk", "2*sync fail|sync stalls|tear|full|sync lies|rot")                             \
    X(NTH, "nth sync", "2*1|2|3")                                                                  \
    X(COPY, "copy", "2*backup|restore")                                                            \
    X(IDIOM, "idiom",                                                                              \
      "2*purged|2*past|2*missed|2*uses|2*ended in a batch|2*hanging|2*date and start")             \
    X(IDIOM_THEN, "after an idiom", "2*more|the end")                                              \
    X(STEP, "step of an idiom", "3*none|2*moment|tenth|second")                                    \
    X(REMOVED, "removed by", "purge|delete")                                                       \
    X(ONCE_MORE, "written once more", "yes|no")                                                    \
    X(PAST, "what is past, read by", "history|rev|get")                                            \
    X(USE, "used by", "2*get|entry|has")                                                           \
    X(WRITTEN, "written over by", "2*set|create")                                                  \
    X(CUT, "cut off", "both ways|one way")                                                         \
    X(HANGS, "hangs", "in a stall|in a sync")                                                      \
    X(WALL_BACK, "wall back by", "3*-1h|-30d|-1s")                                                 \
    X(SLOW, "reaper of a date", "as it is|minute")                                                 \
    X(CHANGE, "change", "4*a time|4*an instant|2*drop|2*twice|2*swap|2*splice|3*fault")            \
    X(SHAKE, "shake", "3*an instant|message|5*fault")                                              \
    X(NEAR, "near", "3*another|2*sum|2*difference|half|double|thirtieth|beside")                   \
    X(PROFILE, "profile", "24*strict|nats|nats that sweeps|tinystore|kahuna")                      \
    X(POLICIES, "policies of its own", "20*0|1|2")                                                 \
    X(POLICY, "policy",                                                                            \
      "live_at_end|end_seen|resolution|plain_set|zero_span|overflow|own_term|revision_scope|"      \
      "if_version|older_value|delete_ended|own_term_in_idle|late_flush|renewal_shown|lease_token|" \
      "release_ended|ephemeral_unused|ephemeral_token|durabilities|request_again|purge_marker|"    \
      "markers|wall_back|acquire_again|own_term_bounds|reaper|marker_unstored")                    \
    X(POLICY_VALUE, "value of a policy", "strict's|3*second|2*third|fourth")

enum lapse_trait {
#define LAPSE_TRAIT_ENUM(id, word, options) LAPSE_TRAIT_##id,
    LAPSE_TRAIT_TABLE(LAPSE_TRAIT_ENUM)
#undef LAPSE_TRAIT_ENUM
        LAPSE_TRAITS
};

#endif
