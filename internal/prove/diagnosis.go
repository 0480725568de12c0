package prove

import (
	"slices"
	"strings"
)

// What is probably wrong, as an operator's author reads it.
const (
	onStaleRead   = "a decision on a stale read: what was written before is not known yet, and is not waited for"
	onPast        = "a decision on a state of the past: a delete needs the object's UID as a precondition, and a write its resource version"
	onEvents      = "work that depends on each event being seen: compare what is there with the desired state instead"
	onMemory      = "what is written depends on the memory of the process since its start, such as a counter or a time, and not on the objects"
	onFirstWrite  = "several writes that belong together: what comes after the first one is left out when the first one was done before"
	notTriedAgain = "a missing requeue: the error is not returned, or what is left is not tried again"
	twiceDone     = "a create or delete that is not idempotent: it is done again although it was done"
	noFinalizer   = "a finalizer that is missing, or removed before the clean-up is done: the object is gone, and what belongs to it stays"
)

// Diagnosis is what is probably wrong with the operator: by what came of the fault, and by the sort of fault.
func (f Finding) Diagnosis() string {
	if text := f.Symptom.byOracle(f.Plans[0].Kind); text != "" {
		return text
	}
	return f.byState()
}

// byOracle is the diagnosis of a symptom that speaks for itself; "" if it does not.
func (s Symptom) byOracle(kind Kind) string {
	switch s.Oracle {
	case LeftBehind:
		return "no owner reference and no finalizer: what the operator makes for an object stays when that is deleted"
	case Panicked:
		return "the code uses what an answer or an object does not have, without a look whether it is there"
	case Mistaken:
		return "a delete by name alone: what was seen may be gone, and another object have its name; name its UID as a precondition"
	case Extra:
		switch {
		case s.undone():
			return "a decision on a stale read: what was made before is not known yet, and is deleted as if it were left over"
		case kind == TimeTravel:
			return onPast
		case kind.lags():
			return "a decision on a stale read: what was done before is not known yet, and is done again"
		case kind == Overlap:
			return "work that two processes do twice: names that are made at random, or no look at what is there"
		}
		return twiceDone
	case WritesAgain:
		return onMemory
	case Restless:
		if kind == Overtaken {
			return "an update that is repeated after a conflict with the copy that was refused: read the object again first"
		}
		return "two writers, or two reconciles, undo each other's work"
	case Ended:
		return "an error or a panic ends the whole operator"
	case Forbidden:
		return "a missing rule of RBAC, or a policy or quota that is in the way"
	case Backwards:
		return "a status that is written from an old copy of the object"
	case StepRefused:
		return "the operator left something that is in the way of its users"
	case Broken:
		if kind.lags() {
			return onStaleRead
		}
		return "writes in an order that passes through a forbidden state when the work is interrupted or done again"
	case Diverged, UntilUnmet:
	}
	return ""
}

// undone reports whether an object was both created and deleted more often.
func (s Symptom) undone() bool {
	return slices.ContainsFunc(s.Details, func(made string) bool {
		object, is := strings.CutPrefix(made, "create ")
		object, _, _ = strings.Cut(object, ": ")
		return is && slices.ContainsFunc(s.Details, func(gone string) bool { return strings.HasPrefix(gone, "delete "+object+": ") })
	})
}

// byState is the diagnosis where the cluster came to rest in another state.
func (f Finding) byState() string {
	s, kind := f.Symptom, f.Plans[0].Kind
	healed := s.Healed != nil && *s.Healed
	var first Difference // the cause of the others
	if len(s.Differences) > 0 {
		first = s.Differences[0]
	}
	stays, lacks := first.Object != "" && first.Field == "" && first.Want == "", first.Object != "" && first.Field == "" && first.Got == ""
	died := kind == KilledAfter || kind == KilledBefore || kind == Lost
	switch {
	case s.Stuck && kind == Overtaken:
		return "a finalizer that stays: an update is repeated after a conflict with the copy that was refused"
	case s.Stuck && healed:
		return "a missing requeue: the clean-up is not tried again, and the finalizer stays"
	case s.Stuck:
		return "a finalizer that is never removed: the clean-up waits for what does not come, or is not tried again"
	case s.Gone && stays:
		return noFinalizer
	case kind == Restarted:
		return onMemory
	case kind == TimeTravel:
		return onPast
	case kind == Unreachable:
		return "an object that was let in without its webhook (failurePolicy: Ignore), or a refused write that is not tried again"
	case kind.lags():
		if healed {
			return "a decision on a stale read, and no reconcile when the cache has caught up"
		}
		return onStaleRead
	case kind.mayWander():
		return onEvents
	case kind == Overlap:
		return "two processes at once, as after a lease was lost: a write that does not go by what is stored"
	case healed:
		return notTriedAgain
	case died && lacks:
		return onFirstWrite
	case kind == Overtaken && stays || kind == Between && stays:
		return onStaleRead
	case stays && died && kind != Lost:
		return "progress that is recorded before the work is done, or a clean-up that is not tried again"
	case stays:
		return "objects under new names for each attempt, or a clean-up that is not tried again"
	case died:
		return onFirstWrite
	}
	return "a failed request is not tried again, or what comes after it is left out: several writes belong together"
}
