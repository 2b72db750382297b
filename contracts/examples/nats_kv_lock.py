"""Records what two clients of a NATS KV lock do: nats_kv_lock.py FILE; then `lapse check FILE`."""
import asyncio, json, sys, time
import nats
from nats.js.api import KeyValueConfig
from nats.js.errors import KeyWrongLastSequenceError

KEY, TTL_S, TURNS = "nightly", 30, 20
START, file = time.monotonic_ns(), open(sys.argv[1], "x")

def now():
    return time.monotonic_ns() - START

def line(**words):
    file.write(json.dumps(words) + "\n")

async def call(actor, verb, send, refused, **words):
    """Sends a call; one without an answer may have been done, so it gets none in the file."""
    sent, rev = now(), None
    try:
        rev = await send
        told = {"status": "ok"} if verb == "delete" else {"status": "ok", "rev": rev}
        words.update(replied=now(), answer=told)
    except KeyWrongLastSequenceError:
        words.update(replied=now(), answer={"status": refused})
    except (nats.errors.Error, asyncio.TimeoutError):
        pass
    words.update(actor=actor, at=sent, clock=sent, verb=verb, bucket="locks", key=KEY)
    line(event="call", **words)
    return rev

async def client(kv, actor):
    value = actor.encode()
    for _ in range(TURNS):
        rev = await call(actor, "create", kv.create(KEY, value), "exists", value=actor)
        if rev:
            line(event="resource", at=now(), actor=actor, resource="report", token=rev)
            renew = kv.update(KEY, value, last=rev)
            rev = await call(actor, "update", renew, "conflict", value=actor, if_version=rev)
        if rev:
            await call(actor, "delete", kv.delete(KEY, last=rev), "conflict", if_version=rev)

async def main():
    line(lapse=1, recorder="nats_kv_lock.py", profile="nats", policies={"end_seen": "sweep"},
         resources=["report"], buckets=[{"name": "locks", "ttl": "%ds" % TTL_S, "locks": True}])
    connection = await nats.connect("nats://localhost:4222")
    kv = await connection.jetstream().create_key_value(KeyValueConfig(bucket="locks", ttl=TTL_S))
    await asyncio.gather(client(kv, "w1"), client(kv, "w2"))
    await connection.close()
    file.close()

asyncio.run(main())
