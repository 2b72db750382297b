#!/bin/bash -eu
# Called by OSS-Fuzz with CC, CFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and OUT set. meson knows what a
# harness is made of: it is asked for the harnesses with the engine that was chosen.
cd "$SRC/lapse"
CC=$CC CFLAGS="$CFLAGS" meson setup "$WORK/build" --buildtype=plain -Db_lundef=false \
    -Ddefault_library=static -Dprefer_static=true \
    -Dc_args="-fsanitize=fuzzer-no-link $CFLAGS" -Dc_link_args="$CFLAGS"
meson compile -C "$WORK/build" fuzzers
for folder in fuzz/corpus/*/; do
    name=$(basename "$folder")
    [ "$name" != canary ] && [ "$name" != empty ] || continue
    cp "$WORK/build/fuzz/harness/fuzz_$name" "$OUT/"
    (cd "$folder" && zip -q "$OUT/fuzz_${name}_seed_corpus.zip" ./*)
    [ ! -f "fuzz/harness/$name.dict" ] || cp "fuzz/harness/$name.dict" "$OUT/fuzz_$name.dict"
done
