package prove

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// silent are keys whose objects say nothing of an operator: they follow from others, or change by the clock.
var silent = []string{"/events/", "/leases/", "/ipaddresses/", "/minions/", "/csinodes/", "/services/endpoints/default/kubernetes", "/endpointslices/default/kubernetes", "/apiregistration.k8s.io/", "/apiextensions.k8s.io/"}

func (w *world) change(r protocol.Report, now time.Time) {
	if object := w.objects[r.Key]; r.Deleted && object != nil {
		of := w.resourceOf(object)
		w.last[of] = max(w.last[of], r.Revision)
	}
	made := w.made[r.Key]
	if r.Created && !w.base[r.Key] {
		w.made[r.Key] = true
	} else if r.Deleted {
		w.base[r.Key] = w.base[r.Key] || !made // a reset makes it again
		delete(w.made, r.Key)
	}
	if r.Revision <= w.since || slices.ContainsFunc(silent, func(p string) bool { return strings.HasPrefix(r.Key, p) }) {
		return
	}
	c := change{at: now, step: w.step, key: r.Key, revision: r.Revision, created: r.Created, deleted: r.Deleted, before: w.objects[r.Key], fromBefore: made}
	if !r.Deleted {
		c.object = map[string]any{}
		if json.Unmarshal(r.Object, &c.object) != nil {
			c.object = map[string]any{"kind": "Unknown", "metadata": map[string]any{"name": r.Key}}
		}
		hideSecret(w.key, c.object)
	}
	if w.elects(r.Key, c.object) {
		return
	}
	if !w.ignores(c) {
		w.changed = now
	}
	w.keep(c)
}

// resourceOf is that of an object, as it is stored.
func (w *world) resourceOf(object map[string]any) resource {
	group, _, found := strings.Cut(text(object["apiVersion"]), "/")
	if !found {
		group = ""
	}
	for of, kind := range w.kinds {
		if of.group == group && kind == object["kind"] {
			return of
		}
	}
	return resource{}
}

// knowsAll reports whether a client was sent all deletions of what it watches.
func (w *world) knowsAll(door string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.clients[door]
	if c == nil {
		return true
	}
	for _, of := range c.watches {
		if c.seen[of] != 0 && c.seen[of] < w.last[of] {
			return false
		}
	}
	return true
}

// ignores reports whether the scenario says that all of an object differs by nature.
func (w *world) ignores(c change) bool {
	object := c.object
	if object == nil {
		object = c.before
	}
	what := Difference{Object: identify(text(object["kind"]), metadata(object, "namespace"), metadata(object, "name"))}
	return slices.ContainsFunc(w.ignore, func(i Ignore) bool { return i.covers(what) })
}

// hideSecret replaces the values of a Secret: that they differ counts, and they are not shown. Annotations may have
// them, too, as kubectl's last-applied-configuration.
func hideSecret(key []byte, object map[string]any) {
	if object["kind"] != "Secret" {
		return
	}
	annotations, _ := field(object, "metadata", "annotations").(map[string]any)
	data, _ := object["data"].(map[string]any)
	texts, _ := object["stringData"].(map[string]any)
	for _, values := range []map[string]any{annotations, data, texts} {
		for name, value := range values {
			values[name] = digest(key, text(value))
		}
	}
}

// goes reports whether an object is deleted by the change, or begins to be. One that is being deleted goes by itself.
func (c change) goes() bool {
	return metadata(c.before, "deletionTimestamp") == "" && (c.deleted || metadata(c.object, "deletionTimestamp") != "")
}

// isOf reports whether a change is of the object that a request is about; kind is that of its resource, if it is known.
func (c change) isOf(r *Request, kind string) bool {
	object := c.object
	if object == nil {
		object = c.before
	}
	if kind != "" && object != nil && object["kind"] != kind {
		return false
	}
	if r.namespace != "" && !strings.Contains(c.key, "/"+r.namespace+"/") {
		return false
	}
	return r.verb == "deletecollection" || strings.HasSuffix(c.key, "/"+r.name)
}
