/*
 * The op protocol (PROTOCOL.md, P13-P43), small but whole: two devices of one actor, a relay, one session.
 * Each device makes OPS ops, of any kind, at any moment, connected or not. A connection may be cut between any two
 * steps; what was on its way to the device is lost, what was on its way to the relay is handled later, by parts or
 * never, also after the device has connected again. The relay may crash between deciding and committing.
 * A crash of a device is a cut: all that it keeps is written in one transaction a frame.
 * Beside this model: state, metadata, deletes, incarnations, archives read back, several ops in one commit.
 *
 * A fault is put in with -D: NO_ID_CHECK, NO_HEAD_CHECK, ACK_EARLY, NO_LEDGER, PUSH_ANYTHING, NO_CATCH_UP, NO_DIVERGENCE,
 * KEEPS_REFUSED. Each must be found.
 */
#ifndef OPS
#define OPS 2 /* ops a device makes */
#endif
#ifndef CUTS
#define CUTS 1 /* cuts of the first device's connection, at most */
#endif
#ifndef CUTS2
#define CUTS2 CUTS /* and of the second's */
#endif
#ifndef CRASHES
#define CRASHES 1 /* crashes of the relay, at most */
#endif

#define DEVICES 2
#define ALL (DEVICES * OPS)
#define GENERATIONS (ALL + 1)
#define LONGEST (ALL + 1) /* positions a generation has room for */
#define NONE 255

mtype = { HELLO, CATALOG, PULL, WRITE, ENTRY, PAGE, ACK, CONFLICT, PUSH };
mtype = { APPEND, FIXED, CHECKPOINT, REPLACE };

/* up: what, op, and the head it names. down: what, op, generation, first position or last id, count. */
chan up[DEVICES * 2] = [3] of { mtype, byte, byte, byte, byte };
chan down[DEVICES] = [4] of { mtype, byte, byte, byte, byte };

/* ---- What each op is. An op that diverged goes on as another, ALL higher. Op n brings message n + 1. ---- */
mtype kind[2 * ALL];
byte expectedGeneration[2 * ALL];
byte expectedCount[2 * ALL]; /* NONE: whatever the head is when it is sent */
byte expectedLast[2 * ALL];
byte keepGeneration[2 * ALL];
byte keepCount[2 * ALL];
byte carried[2 * ALL]; /* a message of an op before, which a checkpoint holds too; 0 for none */
#define messageOf(op) (((op) % ALL) + 1)
#define replaces(op) (kind[op] == REPLACE)

/* ---- The relay, as a power cut leaves it. Logs of replaced generations stay. ---- */
byte log[GENERATIONS * LONGEST];
byte count[GENERATIONS];
byte generation;
bool known[2 * ALL];
byte knownGeneration[2 * ALL];
byte knownCount[2 * ALL];
#define at(g, i) log[(g) * LONGEST + (i)]
#define lastOf(g) (count[g] == 0 -> 0 : at(g, count[g] - 1))

/* ---- What the checks look at ---- */
byte effects[2 * ALL];
byte madeGeneration[2 * ALL]; /* the head that the op was made for; count NONE where any will do */
byte madeCount[2 * ALL];
byte madeLast[2 * ALL];
bool acknowledged[2 * ALL];
bool refused[2 * ALL]; /* set aside for good */

/* ---- A device: what it has on disk ---- */
byte held[DEVICES * LONGEST];
byte heldGeneration[DEVICES];
byte heldCount[DEVICES];
byte outbox[DEVICES * OPS]; /* op + 1; 0 where there is none */
byte made[DEVICES];
#define heldAt(d, i) held[(d) * LONGEST + (i)]
#define heldLast(d) (heldCount[d] == 0 -> 0 : heldAt(d, heldCount[d] - 1))
#define waiting(d, n) outbox[(d) * OPS + (n)]

/* ---- A device: what it has in memory while a connection lasts ---- */
bool connected[DEVICES];
bool fresh[DEVICES];
bool behind[DEVICES];
bool pulling[DEVICES];
bool inFlight[DEVICES * OPS];
bool lost[DEVICES * OPS]; /* refused because the head had moved, not judged yet */
byte side[DEVICES]; /* which of the two channels up the present connection has */
bool greeted[DEVICES]; /* the relay has read the hello of the present connection */
byte cuts[DEVICES];
byte crashes;

inline forget(d) {
  connected[d] = false; fresh[d] = false; behind[d] = false; pulling[d] = false; greeted[d] = false;
  k = 0;
  do
  :: k < OPS -> inFlight[d * OPS + k] = false; lost[d * OPS + k] = false; k++
  :: else -> break
  od;
  do
  :: down[d]?_,_,_,_,_
  :: empty(down[d]) -> break
  od
}

/* What the device holds is, at every moment, a beginning of what the relay durably has at that generation. */
inline checkHeld(d) {
  assert(heldGeneration[d] <= generation);
  assert(heldCount[d] <= count[heldGeneration[d]]);
  k = 0;
  do
  :: k < heldCount[d] -> assert(heldAt(d, k) == at(heldGeneration[d], k)); k++
  :: else -> break
  od;
  k = 0
}

/* The op leaves the outbox; those behind it move up. */
inline settle(d, n) {
  j = n;
  do
  :: j + 1 < OPS ->
    waiting(d, j) = waiting(d, j + 1);
    inFlight[d * OPS + j] = inFlight[d * OPS + j + 1];
    lost[d * OPS + j] = lost[d * OPS + j + 1];
    j++
  :: else -> break
  od;
  waiting(d, OPS - 1) = 0;
  inFlight[d * OPS + OPS - 1] = false;
  lost[d * OPS + OPS - 1] = false;
  j = 0
}

/* The head that stands when `op` is accepted on (headG, headC, headL). */
inline advance(op) {
  if
  :: replaces(op) ->
    headG = headG + 1;
    headC = keepCount[op] + (carried[op] == 0 -> 1 : 2)
  :: else -> headC = headC + 1
  fi;
  headL = messageOf(op)
}

/* Positions [from, to) of a durable generation become confirmed here; own ops among them are settled. */
inline land(d, g, from, to) {
  if
  :: g < heldGeneration[d] -> skip
  :: g == heldGeneration[d] && from > heldCount[d] -> behind[d] = true
  :: else ->
    if
    :: g > heldGeneration[d] ->
      /* What the new generation kept of the old one is held only as far as it is the same. */
      heldGeneration[d] = g;
      heldCount[d] = from;
      k = 0;
      do
      :: k < from -> heldAt(d, k) = at(g, k); k++
      :: else -> break
      od
    :: else -> skip
    fi;
    do
    :: heldCount[d] < to ->
      heldAt(d, heldCount[d]) = at(g, heldCount[d]);
      heldCount[d] = heldCount[d] + 1;
      /* Logged with its op: an own op whose acknowledgement has not come. */
      m = 0;
      do
      :: m < OPS && waiting(d, m) != 0 ->
        op2 = waiting(d, m) - 1;
        if
        :: messageOf(op2) == heldLast(d) && effects[op2] > 0 &&
           (knownGeneration[op2] == g || !replaces(op2)) -> acknowledged[op2] = true; settle(d, m)
        :: else -> m++
        fi
      :: else -> break
      od;
      m = 0
    :: else -> break
    od
  fi;
  op2 = 0;
  checkHeld(d)
}

inline make(d) {
  op = d * OPS + made[d];
  n = 0;
  headG = heldGeneration[d]; headC = heldCount[d]; headL = heldLast(d);
  keepGeneration[op] = heldGeneration[d];
  keepCount[op] = heldCount[d];
  do
  :: n < OPS && waiting(d, n) != 0 ->
    o = waiting(d, n) - 1;
    if
    :: replaces(o) ->
      keepGeneration[op] = keepGeneration[o]; keepCount[op] = keepCount[o]; carried[op] = messageOf(o)
    :: else -> carried[op] = messageOf(o)
    fi;
    advance(o);
    n++
  :: else -> break
  od;
  expectedGeneration[op] = headG; expectedCount[op] = NONE; expectedLast[op] = 0;
  if
  :: kind[op] = APPEND
  :: kind[op] = FIXED; expectedCount[op] = headC; expectedLast[op] = headL
  :: kind[op] = CHECKPOINT; expectedCount[op] = headC; expectedLast[op] = headL
  :: kind[op] = REPLACE; carried[op] = 0;
    /* An edit of the first message, or of what stands after it. */
    if
    :: keepCount[op] = 0
    :: keepCount[op] > 0 -> keepCount[op] = 1
    fi
  fi;
  if
  :: kind[op] == APPEND || kind[op] == FIXED -> keepGeneration[op] = 0; keepCount[op] = 0; carried[op] = 0
  :: else -> skip
  fi;
  expectedGeneration[op] = (expectedCount[op] == NONE -> 0 : expectedGeneration[op]);
  madeGeneration[op] = expectedGeneration[op]; madeCount[op] = expectedCount[op]; madeLast[op] = expectedLast[op];
  waiting(d, n) = op + 1;
  made[d] = made[d] + 1;
  op = 0; n = 0; o = 0; headG = 0; headC = 0; headL = 0
}

/* Decides what becomes of the ops that were refused because the head had moved. */
inline judge(d) {
  headG = heldGeneration[d]; headC = heldCount[d]; headL = heldLast(d);
  n = 0;
  do
  :: n < OPS && waiting(d, n) != 0 ->
    op = waiting(d, n) - 1;
    if
    :: lost[d * OPS + n] && expectedCount[op] != NONE &&
       !(expectedGeneration[op] == headG && expectedCount[op] == headC && expectedLast[op] == headL) ->
      if
#ifdef NO_DIVERGENCE
      :: kind[op] == CHECKPOINT -> expectedCount[op] = NONE; lost[d * OPS + n] = false; advance(op); n++
#else
      :: kind[op] == CHECKPOINT ->
        o = op + ALL;
        kind[o] = REPLACE;
        expectedCount[o] = NONE; madeCount[o] = NONE;
        keepGeneration[o] = keepGeneration[op]; keepCount[o] = keepCount[op]; carried[o] = carried[op];
        assert(effects[op] == 0);
        refused[op] = true;
        waiting(d, n) = o + 1;
        lost[d * OPS + n] = false;
        advance(o);
        n++
#endif
      :: else ->
        /* A refused op has left nothing. */
        assert(effects[op] == 0);
        refused[op] = true;
        settle(d, n)
      fi
    :: else -> lost[d * OPS + n] = false; advance(op); n++
    fi
  :: else -> break
  od;
  op = 0; n = 0; o = 0; headG = 0; headC = 0; headL = 0
}

/* True when something may be sent: then n is its place, and the head what it is sent on. */
inline nextToSend(d) {
  n = 0;
  headG = heldGeneration[d]; headC = heldCount[d]; headL = heldLast(d);
  do
  :: n < OPS && waiting(d, n) != 0 && inFlight[d * OPS + n] -> o = waiting(d, n) - 1; advance(o); n++
  :: else -> break
  od;
  o = 0
}

inline takeAck(d, op, g, c) {
  n = 0;
  do
  :: n < OPS && waiting(d, n) != 0 && waiting(d, n) != op + 1 -> n++
  :: else -> break
  od;
  if
  :: n == OPS || waiting(d, n) == 0 -> skip
  :: else ->
    inFlight[d * OPS + n] = false;
#ifndef ACK_EARLY
    assert(known[op]);
#endif
    acknowledged[op] = true;
    if
    :: g < heldGeneration[d] || (g == heldGeneration[d] && c <= heldCount[d]) -> settle(d, n)
    :: else ->
      if
      :: replaces(op) && g == heldGeneration[d] + 1 ->
        m = 0;
        do
        :: m < keepCount[op] -> heldAt(d, m) = at(keepGeneration[op], m); m++
        :: else -> break
        od;
        if
        :: carried[op] != 0 -> heldAt(d, m) = carried[op]; m++
        :: else -> skip
        fi;
        heldAt(d, m) = messageOf(op);
        heldGeneration[d] = g;
        heldCount[d] = m + 1;
        settle(d, n)
      :: !replaces(op) && g == heldGeneration[d] && c == heldCount[d] + 1 ->
        heldAt(d, heldCount[d]) = messageOf(op);
        heldCount[d] = heldCount[d] + 1;
        settle(d, n)
      :: else -> behind[d] = true /* its place cannot be told yet */
      fi;
      m = 0
    fi
  fi;
  n = 0;
  checkHeld(d)
}

inline takeConflict(d, op, g, c, tail) {
  n = 0;
  do
  :: n < OPS && waiting(d, n) != 0 && waiting(d, n) != op + 1 -> n++
  :: else -> break
  od;
  if
  :: n == OPS || waiting(d, n) == 0 -> skip
  :: else -> inFlight[d * OPS + n] = false; lost[d * OPS + n] = true
  fi;
  n = 0;
  if
  :: tail != NONE && g == heldGeneration[d] -> land(d, g, tail, c)
  :: else -> skip
  fi;
  if
  :: g != heldGeneration[d] || c != heldCount[d] -> behind[d] = true
  :: else -> skip
  fi
}

#define anyInFlight(d) (inFlight[d * OPS] || (OPS > 1 && inFlight[d * OPS + OPS - 1]))
#define anyLost(d) (lost[d * OPS] || (OPS > 1 && lost[d * OPS + OPS - 1]))
#define stopped(d) (behind[d] || anyLost(d))
#define mayConnect(d) (empty(up[d * 2 + 1 - side[d]]))
#define unsent(d) ((waiting(d, 0) != 0 && !inFlight[d * OPS]) || (OPS > 1 && waiting(d, OPS - 1) != 0 && !inFlight[d * OPS + OPS - 1]))

proctype Device(byte d) {
  byte op, o, op2, g, s, c, n, m, j, k, headG, headC, headL;
end:
  do
  :: atomic { made[d] < OPS -> make(d) }
  :: atomic {
      !connected[d] && mayConnect(d) ->
      side[d] = 1 - side[d];
      connected[d] = true;
      up[d * 2 + side[d]]!HELLO,0,0,0,0;
      up[d * 2 + side[d]]!CATALOG,0,0,0,0
    }
  :: atomic { connected[d] && cuts[d] > 0 -> cuts[d] = cuts[d] - 1; forget(d) }
  :: atomic {
      connected[d] && fresh[d] && !pulling[d] && behind[d] && !anyInFlight(d) && nfull(up[d * 2 + side[d]]) ->
      behind[d] = false; pulling[d] = true;
      up[d * 2 + side[d]]!PULL,0,heldGeneration[d],heldCount[d],heldLast(d)
    }
  :: atomic {
      connected[d] && fresh[d] && !pulling[d] && !behind[d] && anyLost(d) && !anyInFlight(d) -> judge(d)
    }
  :: atomic {
      connected[d] && fresh[d] && !pulling[d] && !stopped(d) && unsent(d) && nfull(up[d * 2 + side[d]]) ->
      nextToSend(d);
      if
      :: n < OPS && waiting(d, n) != 0 ->
        op = waiting(d, n) - 1;
        if
        :: expectedCount[op] != NONE ->
          headG = expectedGeneration[op]; headC = expectedCount[op]; headL = expectedLast[op]
        :: else -> skip
        fi;
        inFlight[d * OPS + n] = true;
        lost[d * OPS + n] = false;
        up[d * 2 + side[d]]!WRITE,op,headG,headC,headL
      :: else -> skip
      fi;
      op = 0; n = 0; headG = 0; headC = 0; headL = 0
    }
  :: atomic {
      down[d]?ENTRY(op,g,s,c) ->
      fresh[d] = true;
      if
#ifndef NO_CATCH_UP
      :: g != heldGeneration[d] || c != heldCount[d] || s != heldLast(d) -> behind[d] = true
#endif
      :: else -> skip
      fi;
      op = 0; g = 0; s = 0; c = 0
    }
  :: atomic {
      down[d]?PAGE(op,g,s,c) ->
      pulling[d] = false;
      land(d, g, s, c);
      op = 0; g = 0; s = 0; c = 0
    }
  :: atomic {
      down[d]?PUSH(op,g,s,c) ->
      if
      :: !fresh[d] -> skip
#ifdef PUSH_ANYTHING
      :: fresh[d] && g == heldGeneration[d] ->
        do
        :: s < c -> heldAt(d, heldCount[d]) = at(g, s); heldCount[d] = heldCount[d] + 1; s++
        :: else -> break
        od;
        checkHeld(d)
#else
      :: fresh[d] && g == heldGeneration[d] -> land(d, g, s, c)
#endif
      :: fresh[d] && g != heldGeneration[d] -> behind[d] = true
      fi;
      op = 0; g = 0; s = 0; c = 0
    }
  :: atomic { down[d]?ACK(op,g,s,c) -> takeAck(d, op, g, c); op = 0; g = 0; s = 0; c = 0 }
  :: atomic { down[d]?CONFLICT(op,g,s,c) -> takeConflict(d, op, g, c, s); op = 0; g = 0; s = 0; c = 0 }
  od
}

#define present(ch) (connected[(ch) / 2] && side[(ch) / 2] == (ch) % 2)

inline answer(ch, what, op, g, s, c) {
  if
  :: present(ch) -> down[(ch) / 2]!what,op,g,s,c
  :: else -> skip
  fi
}

/* What is written becomes durable, then is told. */
inline commit(ch, op) {
  /* What its writer expected stands: for a checkpoint, that what it holds is the whole log. */
  assert(madeCount[op] == NONE ||
    (madeGeneration[op] == generation && madeCount[op] == count[generation] && madeLast[op] == lastOf(generation)));
  /* The ops of a device take effect in its order. */
  j = op % ALL;
  assert(j % OPS == 0 || effects[j - 1] + effects[j - 1 + ALL] > 0 || refused[j - 1]);
  j = 0;
  if
  :: replaces(op) ->
    g = generation + 1;
    k = 0;
    do
    :: k < keepCount[op] ->
      assert(k < count[keepGeneration[op]]);
      at(g, k) = at(keepGeneration[op], k); k++
    :: else -> break
    od;
    if
    :: carried[op] != 0 -> at(g, k) = carried[op]; k++
    :: else -> skip
    fi;
    at(g, k) = messageOf(op);
    count[g] = k + 1;
    generation = g;
    s = 0
  :: else ->
    s = count[generation];
    at(generation, s) = messageOf(op);
    count[generation] = s + 1
  fi;
  effects[op] = effects[op] + 1;
  /* One op, one effect; none of one that was set aside. */
  assert(effects[op] == 1);
  assert(!refused[op]);
  known[op] = true;
  knownGeneration[op] = generation;
  knownCount[op] = count[generation];
  /* Ids are unique within a generation. */
  k = 0;
  do
  :: k + 1 < count[generation] ->
    j = k + 1;
    do
    :: j < count[generation] -> assert(at(generation, k) != at(generation, j)); j++
    :: else -> break
    od;
    k++
  :: else -> break
  od;
#ifndef ACK_EARLY
  answer(ch, ACK, op, generation, 0, count[generation]);
#endif
  j = 1 - ch / 2;
  if
  :: connected[j] && greeted[j] -> down[j]!PUSH,op,generation,s,count[generation]
  :: else -> skip
  fi;
  j = 0; k = 0; g = 0; s = 0
}

#ifdef NO_HEAD_CHECK
#define headStands(g, c, l) true
#else
#ifdef NO_ID_CHECK
#define headStands(g, c, l) (g == generation && c == count[generation])
#else
#define headStands(g, c, l) (g == generation && c == count[generation] && l == lastOf(generation))
#endif
#endif
#ifdef NO_LEDGER
#define isKnown(op) false
#else
#define isKnown(op) known[op]
#endif

/* The order of answers: known, already there, the head, conflict. */
inline decide(ch, op, g, c, l) {
  if
  :: isKnown(op) -> answer(ch, ACK, op, knownGeneration[op], 0, knownCount[op])
  :: !isKnown(op) && !replaces(op) && g == generation && c < count[generation] && at(g, c) == messageOf(op) ->
    known[op] = true; knownGeneration[op] = g; knownCount[op] = c + 1;
    answer(ch, ACK, op, g, 0, c + 1)
  :: else ->
    if
    :: headStands(g, c, l) -> deciding = op + 1
    :: else ->
      /* The tail goes along where the base is a beginning of the log. */
      if
      :: g == generation && c < count[generation] && (c == 0 -> l == 0 : at(g, c - 1) == l) -> s = c
      :: else -> s = NONE
      fi;
      if
      :: true -> skip
      :: s != NONE -> s = NONE
      fi;
#ifdef KEEPS_REFUSED
      known[op] = true; knownGeneration[op] = generation; knownCount[op] = count[generation];
#endif
      answer(ch, CONFLICT, op, generation, s, count[generation]);
      s = 0
    fi
  fi
}

/* Where a page starts: what is held is a beginning of the log, or else what of it the new generation kept. */
inline page(ch, g, c, l) {
  if
  :: g == generation && c <= count[g] && (c == 0 -> l == 0 : at(g, c - 1) == l) -> s = c
  :: g == generation && !(c <= count[g] && (c == 0 -> l == 0 : at(g, c - 1) == l)) -> assert(false)
  :: g < generation ->
    s = 0;
    do
    :: s < c && s < count[generation] && s < count[g] && at(generation, s) == at(g, s) -> s++
    :: else -> break
    od
  fi;
  answer(ch, PAGE, 0, generation, s, count[generation]);
  s = 0
}

inline take(ch) {
  if
  :: what == HELLO ->
    if
    :: present(ch) -> greeted[ch / 2] = true
    :: else -> skip
    fi
  :: what == CATALOG -> answer(ch, ENTRY, 0, generation, lastOf(generation), count[generation])
  :: what == PULL -> page(ch, g, c, l)
  :: what == WRITE ->
    decide(ch, op, g, c, l);
#ifdef ACK_EARLY
    if
    :: deciding != 0 ->
      k = (replaces(op) -> generation + 1 : generation);
      j = (replaces(op) -> keepCount[op] + (carried[op] == 0 -> 1 : 2) : count[generation] + 1);
      answer(ch, ACK, op, k, 0, j);
      k = 0; j = 0
    :: else -> skip
    fi
#endif
  fi;
  channel = ch;
  what = 0; op = 0; g = 0; c = 0; l = 0
}

proctype Relay() {
  mtype what = 0;
  byte op, g, c, l, s, k, j, channel, deciding;
end:
  do
  :: atomic { deciding == 0 && nempty(up[0]) && nfull(down[0]) -> up[0]?what,op,g,c,l; take(0) }
  :: atomic { deciding == 0 && nempty(up[1]) && nfull(down[0]) -> up[1]?what,op,g,c,l; take(1) }
  :: atomic { deciding == 0 && nempty(up[2]) && nfull(down[1]) -> up[2]?what,op,g,c,l; take(2) }
  :: atomic { deciding == 0 && nempty(up[3]) && nfull(down[1]) -> up[3]?what,op,g,c,l; take(3) }
  :: atomic {
      /* Room for both answers, so that this step is never torn. */
      deciding != 0 && nfull(down[0]) && nfull(down[1]) ->
      j = deciding - 1; deciding = 0; op = j; j = 0;
      commit(channel, op);
      op = 0; channel = 0
    }
  /* Frames of a connection that is over may never be read. */
  :: atomic { deciding == 0 && nempty(up[0]) && !present(0) -> up[0]?what,op,g,c,l; what = 0; op = 0; g = 0; c = 0; l = 0 }
  :: atomic { deciding == 0 && nempty(up[1]) && !present(1) -> up[1]?what,op,g,c,l; what = 0; op = 0; g = 0; c = 0; l = 0 }
  :: atomic { deciding == 0 && nempty(up[2]) && !present(2) -> up[2]?what,op,g,c,l; what = 0; op = 0; g = 0; c = 0; l = 0 }
  :: atomic { deciding == 0 && nempty(up[3]) && !present(3) -> up[3]?what,op,g,c,l; what = 0; op = 0; g = 0; c = 0; l = 0 }
  :: atomic {
      crashes > 0 ->
      crashes = crashes - 1;
      deciding = 0; channel = 0;
      j = 0;
      do
      :: j < DEVICES ->
        forget(j);
        j++
      :: else -> break
      od;
      j = 0;
      do
      :: j < DEVICES * 2 ->
        do
        :: up[j]?_,_,_,_,_
        :: empty(up[j]) -> break
        od;
        j++
      :: else -> break
      od;
      j = 0; k = 0
    }
  od
}

/* When nothing more happens, everything is where it belongs. */
proctype Watch() {
  byte d, op, k;
  timeout ->
  d = 0;
  do
  :: d < DEVICES ->
    assert(made[d] == OPS);
    assert(connected[d] && fresh[d]);
    assert(waiting(d, 0) == 0);
    assert(heldGeneration[d] == generation && heldCount[d] == count[generation]);
    checkHeld(d);
    d++
  :: else -> break
  od;
  op = 0;
  do
  :: op < ALL ->
    /* Applied once, or set aside; a checkpoint that diverged lives on as the replace it became. */
    assert(effects[op] + (refused[op] -> 1 : 0) == 1);
    assert(effects[op] == 0 || acknowledged[op]);
    if
    :: kind[op] == CHECKPOINT && refused[op] -> assert(effects[op + ALL] == 1 && acknowledged[op + ALL])
    :: else -> assert(effects[op + ALL] == 0)
    fi;
    op++
  :: else -> break
  od
}

init {
  byte d;
  atomic {
    d = 0;
    do
    :: d < DEVICES ->
      side[d] = 0;
      if
      :: cuts[d] = 0
      :: cuts[d] = (d == 0 -> CUTS : CUTS2)
      fi;
      d++
    :: else -> break
    od;
    if
    :: crashes = 0
    :: crashes = CRASHES
    fi;
    d = 0;
    run Device(0);
    run Device(1);
    run Relay();
    run Watch()
  }
}
