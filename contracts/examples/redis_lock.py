"""Records what two clients of a Redis lock do: redis_lock.py FILE; then `lapse check FILE`."""
import json, sys, threading, time
import redis

NAME, TTL_MS, TURNS = "jobs/nightly", 30000, 20
EXTEND = """local v = redis.call('GET', KEYS[1])
if not v then return 'lost' end
if v ~= ARGV[1] then return 'not_owner' end
redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 'extended'"""
RELEASE = """local v = redis.call('GET', KEYS[1])
if not v then return 'absent' end
if v ~= ARGV[1] then return 'not_owner' end
redis.call('DEL', KEYS[1]) return 'released'"""
START, file, mutex = time.monotonic_ns(), open(sys.argv[1], "x"), threading.Lock()

def now():
    return time.monotonic_ns() - START

def line(**words):
    with mutex:
        file.write(json.dumps(words) + "\n")

def call(actor, owner, verb, send, **words):
    """Sends a call; one without an answer may have been done, so it gets none in the file."""
    sent, status = now(), None
    try:
        status = send()
        words.update(replied=now(), answer={"status": status})
    except (redis.ConnectionError, redis.TimeoutError):
        pass
    line(event="call", actor=actor, at=sent, clock=sent, verb=verb, name=NAME, owner=owner, **words)
    return status

def client(actor):
    db, ms = redis.Redis(decode_responses=True), {"for": "%dms" % TTL_MS}
    for turn in range(TURNS):
        own = "%s/%d" % (actor, turn)  # So a key left by a call that timed out is another owner's.
        set_it = lambda: "granted" if db.set(NAME, own, nx=True, px=TTL_MS) else "held"
        if call(actor, own, "acquire", set_it, **ms) == "granted":
            line(event="resource", at=now(), actor=actor, resource="report", value=str(turn))
            call(actor, own, "extend", lambda: db.eval(EXTEND, 1, NAME, own, TTL_MS), **ms)
            call(actor, own, "release", lambda: db.eval(RELEASE, 1, NAME, own))

# Redis counts terms in ms: the bound leaves 6 ms of a term of 30 s to that and to its clock.
line(lapse=1, recorder="redis_lock.py", bounds={"rate": "200ppm"}, resources=["report"])
clients = [threading.Thread(target=client, args=(name,)) for name in ("w1", "w2")]
[one.start() for one in clients] and [one.join() for one in clients] and file.close()
