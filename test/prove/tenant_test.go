package prove

import (
	"fmt"
	"testing"
)

// The steps of scenarios of tenants.
var (
	acme       = tenantStep("apply", "acme", "title: Acme, theme: blue, replicas: 1, shards: 1, labels: {team: a, tier: gold}")
	zeta       = tenantStep("apply", "zeta", "title: Zeta, theme: grey, replicas: 1, shards: 0")
	grow       = tenantStep("patch", "acme", "replicas: 2, shards: 3")
	shrink     = tenantStep("patch", "acme", "shards: 1")
	green      = tenantStep("patch", "acme", "theme: green")
	title      = tenantStep("patch", "acme", "title: Acme Incorporated")
	unlabelled = tenantStep("patch", "acme", "labels: {tier: null}")
	gone       = tenantStep("delete", "acme", "")
	again      = tenantStep("apply", "acme", "title: Acme again, theme: blue, replicas: 1, shards: 1")
)

func tenantStep(verb, name, spec string) string { return step(verb, "Tenant", name, spec) }

// TestTenant: there is nothing to find in the correct operator.
func TestTenant(t *testing.T) {
	for name, steps := range map[string][]string{
		"change":       {acme, zeta, grow, shrink, green, title, unlabelled},
		"delete":       {acme, gone},
		"delete-again": {acme, gone, again},
	} {
		t.Run(name, func(t *testing.T) { correct(t, "tenant", tenantCommand(""), steps...) })
	}
}

// TestTenantBugs: each mistake is found, by a failure that shows it.
func TestTenantBugs(t *testing.T) {
	for bug, c := range tenantBugs {
		t.Run(bug, func(t *testing.T) {
			r, code := prove(t, "tenant", tenantCommand(bug), c.steps...)
			c.has(t, r, code)
		})
	}
}

func tenantCommand(bug string) string {
	return fmt.Sprintf("%q, --kubeconfig, \"{kubeconfig}\", \"--bug=%s\"", tenant, bug)
}

var tenantBugs = map[string]struct {
	steps []string
	mistake
}{
	"service-after-create": {[]string{acme}, mistake{}},
	"progress-first":       {[]string{acme}, mistake{}},
	"owner-later":          {[]string{acme, gone}, mistake{}},
	"partial-status":       {[]string{acme}, mistake{}},
	"create-error-done":    {[]string{acme}, mistake{}},
	"already-exists":       {[]string{acme}, mistake{}},
	"generate-name":        {[]string{acme, grow}, mistake{}},
	"stale-prune":          {[]string{acme, green}, mistake{}},
	"lost-update":          {[]string{acme, zeta}, mistake{}},
	"conflict-loop":        {[]string{acme, grow}, mistake{}},
	"memory-edge":          {[]string{acme, grow}, mistake{}},
	"unobserved-shard":     {[]string{acme, grow, shrink}, mistake{}},
	"unobserved-removal":   {[]string{acme, gone}, mistake{}},
	"no-owner":             {[]string{acme, gone}, mistake{}},
	"finalizer-first":      {[]string{acme, gone}, mistake{}},
	"finalizer-stuck":      {[]string{acme, gone}, mistake{}},
	"async-clean-up":       {[]string{acme, gone, again}, mistake{}},
	"panic-not-found":      {[]string{acme, gone}, mistake{}},
	"delete-by-name":       {[]string{acme, green}, mistake{}},
	"secret-late":          {[]string{acme}, mistake{}},
	"error-swallowed":      {[]string{acme, title}, mistake{}},
	"requeue-forgotten":    {[]string{acme, title}, mistake{}},
	"conflict-success":     {[]string{acme}, mistake{}},
	"start-counter":        {[]string{acme}, mistake{}},
	"start-stamp":          {[]string{acme}, mistake{}},
	"labels-stay":          {[]string{acme, unlabelled}, mistake{}},
}
