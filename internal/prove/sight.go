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

// sees notes what a report says that a process has been shown: an event of a watch, or an answer. It needs w.mu.
func (w *world) sees(r protocol.Report) {
	revision, err := strconv.ParseInt(r.ResourceVersion, 10, 64)
	if err != nil || r.Name == protocol.EventRequest && r.Status >= 300 {
		return
	}
	w.sights[r.Door] = append(w.sights[r.Door], sight{resource{r.Group, r.Resource}, r.Namespace, r.ObjectName, revision})
}

func (s sight) covers(r *Request) bool {
	return s.of == r.of && (s.namespace == "" || s.namespace == r.namespace) && (s.name == "" || s.name == r.name)
}

// known is the UID of the object that a process means by a name, when its request comes: the one that it has been shown
// last. It is empty if it knows none.
func (w *world) known(r *Request, key string) (uid string) {
	var shown int64
	for _, s := range w.sights[r.door] {
		if s.covers(r) && s.revision <= r.began {
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
			if c.revision <= r.began || c.revision > r.ended || !c.isOf(r, w.kinds[r.of]) {
				continue
			}
			if known, is := w.known(r, c.key), metadata(c.before, "uid"); known != "" && is != "" && known != is {
				return fmt.Sprintf("%s %s/%s: the operator knew the one before it under this name", r.of, r.namespace, r.name)
			}
		}
	}
	return ""
}
