package prove

import (
	"fmt"
	"strconv"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// A sight is what a process knows: an object, or all of a resource, as of a revision of the store.
type sight struct {
	of              resource
	namespace, name string // empty: all
	revision        int64
}

// mostSights bounds what is kept of a process: it decides itself how much it is shown.
const mostSights = 100_000

// sees notes what a report says that a process has been shown: an event of a watch, or an answer. A list of some of the
// objects shows none that it leaves out. It needs w.mu.
func (w *world) sees(r protocol.Report) {
	revision, err := strconv.ParseInt(r.ResourceVersion, 10, 64)
	switch {
	case r.Name == protocol.EventRequest && (r.Verb == "get" && r.Status == 404 || r.Verb == "delete" && r.Status < 300):
		revision, err = r.Ended, nil // it knows that there is none, or soon will be
	case r.Name == protocol.EventRequest && r.Status >= 300:
		return
	}
	if err != nil || r.Selects && r.ObjectName == "" || len(w.sights[r.Door]) == mostSights {
		return
	}
	w.sights[r.Door] = append(w.sights[r.Door], sight{resource{r.Group, r.Resource}, r.Namespace, r.ObjectName, revision})
}

func (s sight) covers(r *Request) bool {
	return s.of == r.of && (s.namespace == "" || s.namespace == r.namespace) && (s.name == "" || s.name == r.name)
}

// known is the UID of the object that a process means by a name: the one that it had been shown last when its request
// came. It is empty if it knew none.
func (w *world) known(r *Request, key string) (uid string) {
	var shown int64
	for _, s := range w.sights[r.door][:r.shown] {
		if s.covers(r) {
			shown = max(shown, s.revision)
		}
	}
	for _, c := range w.changes {
		if c.key == key && c.revision <= shown {
			uid = metadata(c.object, "uid")
		}
	}
	return uid
}

// mistaken is a deletion of an object that is not the one which its process means, as where another one has got the
// name since; "" if there is none.
func (w *world) mistaken() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		if r.verb != "delete" || !r.effective {
			continue
		}
		for _, c := range w.changes {
			if c.revision <= r.began || c.revision > r.ended || !c.isOf(r, w.kinds[r.of]) || !c.goes() && !c.deleted {
				continue
			}
			if known, is := w.known(r, c.key), metadata(c.before, "uid"); known != "" && is != "" && known != is {
				return fmt.Sprintf("%s %s/%s: the operator knew the one before it under this name", r.of, r.namespace, r.name)
			}
		}
	}
	return ""
}
