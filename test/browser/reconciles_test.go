package browser

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func reconcileAt(i int) entry {
	at := began.Add(50*time.Minute - time.Duration(i)*4*time.Second)
	r := entry{
		"id": fmt.Sprintf("reconcile-%d", i), "operator": "shop", "user": "system:serviceaccount:shop-system:manager", "controller": []string{"order", "invoice"}[i%2],
		"object": entry{"kind": "Order", "namespace": fmt.Sprintf("shop-%d", i%12), "name": fmt.Sprintf("order-%d", i)},
		"began":  at, "ended": at.Add(time.Duration(20+i%300) * time.Millisecond), "result": []string{"success", "success", "requeue after", "error"}[i%4],
		"requests": 4, "writes": 2, "lines": 3, "inferred": i%3 == 1, "woken": "MODIFIED pods shop-1/order-1-7fbf8fd88f-00040",
	}
	if i%4 == 3 {
		r["error"] = "start an instance: pods is forbidden: exceeded quota: compute, requested: pods=1, used: pods=10, limited: pods=10"
	}
	if i == 0 {
		delete(r, "ended")
		delete(r, "result")
	}
	return r
}

func reconciles(url.Values) any {
	all := []entry{}
	for i := range 500 {
		all = append(all, reconcileAt(i))
	}
	tally := func(what string, times int) entry { return entry{"what": what, "times": times} }
	return entry{
		"since": began,
		"controllers": []entry{
			{"operator": "shop", "controller": "order", "reconciles": 410, "perMinute": 6.8, "medianMs": 41.2, "p95Ms": 190.0, "longestMs": 1204.0, "results": entry{"success": 300, "error": 80, "requeue after": 30}, "errors": 80, "newest": "start an instance: pods is forbidden: exceeded quota: compute, requested: pods=1, used: pods=10, limited: pods=10"},
			{"operator": "shop", "controller": "invoice", "reconciles": 62, "perMinute": 1.0, "medianMs": 4.1, "p95Ms": 12.0, "results": entry{"success": 62}, "errors": 0},
			{"operator": "shop", "controller": "customer", "reconciles": 3, "perMinute": 0.1, "results": entry{"success": 3}, "errors": 0},
		},
		"operators": []entry{{
			"user":  "system:serviceaccount:shop-system:manager",
			"woken": []entry{tally("MODIFIED pods", 120)}, "writes": []entry{tally("update deployments.apps", 61)},
			"reads": []entry{tally("list orders.shop.example.com", 31)}, "idle": []entry{tally("update deployments.apps/status", 204)},
			"conflicts": []entry{tally("update orders.shop.example.com/status", 9)}, "refused": []entry{tally("create pods", 18), tally("patch deployments.apps", 4)},
			"restless": []entry{{"object": entry{"kind": "Order", "namespace": "shop-3", "name": "order-3"}, "times": 143, "fields": []string{".status.lastSeen", ".status.observedGeneration"}}},
		}},
		"reconciles": all,
	}
}

func reconcile(q url.Values) any {
	i, _ := strconv.Atoi(strings.TrimPrefix(q.Get("id"), "reconcile-"))
	r := reconcileAt(i)
	at := r["began"].(time.Time)
	object := entry{"group": "apps", "resource": "deployments", "kind": "Deployment", "namespace": "shop-3", "name": "order-3"}
	step := func(ms int, kind string, more entry) entry {
		e := entry{"seq": 9000 + ms, "at": at.Add(time.Duration(ms) * time.Millisecond), "kind": kind}
		for k, v := range more {
			e[k] = v
		}
		return e
	}
	line := func(ms int, level, text string) entry {
		return step(ms, "line", entry{"level": level, "message": text, "operator": "shop", "controller": "order"})
	}
	by := func(verb string) entry {
		return entry{"verb": verb, "user": "system:serviceaccount:shop-system:manager"}
	}
	return entry{"reconcile": r, "entries": []entry{
		step(-12, "delivery", entry{"type": "MODIFIED", "object": entry{"resource": "pods", "kind": "Pod", "namespace": "shop-3", "name": "order-3-7fbf8fd88f-000c0"}}),
		line(1, "info", "reconciling  generation=4"),
		step(3, "request", entry{"by": by("list"), "object": entry{"resource": "pods", "namespace": "shop-3"}, "status": 200, "latencyMs": 4.2}),
		line(9, "debug", "3 of 3 instances wanted, 1 available"),
		step(11, "write", entry{"type": "updated", "by": by("update"), "object": object, "status": 200, "latencyMs": 6.1, "changes": []entry{{"path": ".spec.replicas", "before": 2, "after": 3}, {"path": ".spec.template.spec.containers[name=app].image", "before": "registry.example.com/shop/app:v1.4.0", "after": "registry.example.com/shop/app:v1.4.1"}}}),
		step(19, "refusal", entry{"by": by("create"), "object": entry{"resource": "pods", "namespace": "shop-3"}, "status": 403, "reason": "Forbidden", "message": "exceeded quota: compute, requested: pods=1, used: pods=10, limited: pods=10"}),
		line(20, "error", "start an instance: pods is forbidden: exceeded quota: compute, requested: pods=1, used: pods=10, limited: pods=10"),
		line(21, "info", hostileText),
	}}
}
