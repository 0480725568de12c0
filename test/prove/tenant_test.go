package prove

import (
	"fmt"
	"slices"
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
		"settings":     {acme, green},
		"delete":       {acme, gone},
		"delete-again": {acme, gone, again},
	} {
		t.Run(name, func(t *testing.T) { correct(t, "tenant", tenantCommand(""), steps...) })
	}
}

// open are mistakes that prove does not find yet, or explains wrongly, and why.
var open = map[string]string{
	"lost-update": "the lag has to end between two writes of another tenant: by chance",
}

// TestTenantBugs: each mistake is found, by a failure that shows it.
func TestTenantBugs(t *testing.T) {
	for bug, c := range tenantBugs {
		t.Run(bug, func(t *testing.T) {
			if why := open[bug]; why != "" {
				t.Skip(why)
			}
			r, code := prove(t, "tenant", tenantCommand(bug), c.steps...)
			c.has(t, r, code)
		})
	}
}

func tenantCommand(bug string) string {
	return fmt.Sprintf("%q, --kubeconfig, \"{kubeconfig}\", \"--bug=%s\"", tenant, bug)
}

// Sorts of failures, as findings name them.
var (
	interrupted = []string{"killed-before", "killed-after", "lost"}
	refused     = []string{"overtaken", "failure", "timeout", "too-many", "throttled", "conflict", "lost"}
	stale       = []string{"stale", "behind", "lost"}
	unseen      = []string{"early", "merged", "coalesced", "absent", "killed-before", "killed-after"}
	restarted   = []string{"restarted", "killed-before", "killed-after"}
)

// Diagnoses that an operator's author can work with.
const (
	together = "belong together|progress that is recorded"
	retried  = "requeue|not tried again"
	outdated = "stale read"
)

// tenantBugs are the scenario in which a mistake shows, and what an author should read about it.
var tenantBugs = map[string]struct {
	steps []string
	mistake
}{
	"service-after-create": {[]string{acme}, mistake{interrupted, "^Service default/acme", together}},
	"progress-first":       {[]string{acme}, mistake{slices.Concat(refused, interrupted), "^ConfigMap registry/default.acme", together}},
	"owner-later":          {[]string{acme, gone}, mistake{interrupted, `acme-shard-0 metadata\.ownerReferences`, together}},
	"partial-status":       {[]string{acme}, mistake{slices.Concat(interrupted, refused), `^Tenant default/acme status\.shards`, together}},
	"create-error-done":    {[]string{acme}, mistake{refused, "^ConfigMap default/acme-shard-0", retried}},
	"already-exists":       {[]string{acme}, mistake{interrupted, `^Tenant default/acme status\.registered`, together + "|" + retried}},
	"generate-name":        {[]string{acme, grow}, mistake{stale, `^ConfigMap default/acme-shard-\*`, outdated + "|new names"}},
	"stale-prune":          {[]string{acme, green}, mistake{nil, "(ConfigMap|configmaps) default/acme-settings-", outdated}},
	"lost-update":          {[]string{acme, zeta}, mistake{stale, `^ConfigMap registry/index data\.acme`, outdated}},
	"conflict-loop":        {[]string{acme, gone}, mistake{slices.Concat(stale, unseen, refused), "^Tenant default/acme", outdated + "|conflict"}},
	"memory-edge":          {[]string{acme, grow}, mistake{slices.Concat(refused, restarted, unseen), `^Deployment default/acme spec\.replicas`, "memory|seen|" + retried + "|" + together}},
	"unobserved-shard":     {[]string{acme, grow, shrink}, mistake{unseen, "^ConfigMap default/acme-shard-", "seen|skipped|clean-up"}},
	"unobserved-removal":   {[]string{acme, gone}, mistake{slices.Concat(unseen, refused), "^ConfigMap registry/default.acme", "finalizer|seen|clean-up"}},
	"no-owner":             {[]string{acme, gone}, mistake{nil, "^Service default/acme", "owner|left"}},
	"finalizer-first":      {[]string{acme, gone}, mistake{slices.Concat(interrupted, refused), "^ConfigMap registry/default.acme", "finalizer"}},
	"finalizer-stuck":      {[]string{acme, gone}, mistake{refused, "^Tenant default/acme", retried}},
	"async-clean-up":       {[]string{acme, gone, again}, mistake{slices.Concat(unseen, refused), "^ConfigMap registry/default.acme", "finalizer|clean-up"}},
	"panic-not-found":      {[]string{acme, gone}, mistake{append(slices.Clone(interrupted), "read-failure"), "^exit status", "panic"}},
	"delete-by-name":       {[]string{acme, green}, mistake{slices.Concat(stale, interrupted), "^Service default/acme", outdated + "|" + together}},
	"secret-late":          {[]string{acme}, mistake{refused, `^Deployment default/acme spec\.template`, "order|" + retried}},
	"error-swallowed":      {[]string{acme, title}, mistake{refused, `^ConfigMap registry/default.acme`, retried}},
	"requeue-forgotten":    {[]string{acme, title}, mistake{refused, "", retried}},
	"conflict-success":     {[]string{acme}, mistake{refused, "", retried + "|conflict"}},
	"start-counter":        {[]string{acme}, mistake{restarted, `^ConfigMap registry/operator data\.starts|^(create|update) configmaps registry/operator`, "start"}},
	"start-stamp":          {[]string{acme}, mistake{restarted, "^(Deployment|ReplicaSet) default/acme", "start"}},
	"labels-stay":          {[]string{acme, unlabelled}, mistake{unseen, `^Deployment default/acme spec\.template\.metadata\.labels`, "before|history|seen"}},
}
