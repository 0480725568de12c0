package projects

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/operationtest"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/project"
)

// BeginProject makes a project in a folder, without the network.
func BeginProject(t *testing.T) (*operation.Session, *operationtest.Events) {
	t.Helper()
	s, told := operationtest.Begin(t, filepath.Join(t.TempDir(), "sample"))
	if err := os.Mkdir(s.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Init(context.Background(), s, sample()); err != nil {
		t.Fatal(err)
	}
	return s, told
}

// sample is the project of these tests.
func sample() Project {
	return Project{Project: scaffold.Project{Domain: "example.com", Repo: "example.com/sample", License: scaffold.License{Name: "none"}}}
}

// cronJob is a kind for it.
func cronJob() API {
	return API{API: scaffold.API{Group: "batch", Version: "v1", Kind: "CronJob", Resource: true, Controller: true, Namespaced: true}}
}

// TestPreviewsWriteNothing: what is shown is what is done afterwards.
func TestPreviewsWriteNothing(t *testing.T) {
	s, told := operationtest.Begin(t, t.TempDir())
	only := sample()
	only.DryRun = true
	would, err := Init(context.Background(), s, only)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
		t.Fatalf("a preview left %v, %v", left, err)
	}
	planned, ok := operationtest.Last(t, told).Value.(plannedChanges)
	if !ok || !planned.DryRun || len(planned.Changes) == 0 {
		t.Fatalf("the preview's result is %+v", operationtest.Last(t, told))
	}
	did, err := Init(context.Background(), s, sample())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(would, did) || !slices.Equal(did, operationtest.Of[report.File](told)) {
		t.Errorf("the preview returns %v, the change %v, and %v was reported", would, did, operationtest.Of[report.File](told))
	}
	var made []string
	for _, f := range operationtest.Of[report.File](told) {
		made = append(made, f.Path)
	}
	for _, c := range planned.Changes {
		if !slices.Contains(made, c.Path) {
			t.Errorf("%s was shown and not made", c.Path)
		}
	}
	if len(made) != len(planned.Changes) {
		t.Errorf("%d files were made, %d were shown", len(made), len(planned.Changes))
	}
}

// TestChanges: a kind comes, with webhooks, and goes; each time the project says so.
func TestChanges(t *testing.T) {
	s, told := BeginProject(t)
	ctx := context.Background()
	kinds := func() []project.Resource { return operation.Kinds(s) }
	if got := kinds(); len(got) > 0 {
		t.Fatalf("a new project has kinds: %v", got)
	}
	if _, err := CreateAPI(ctx, s, cronJob()); err != nil {
		t.Fatal(err)
	}
	if got := kinds(); len(got) != 1 || got[0].Kind != "CronJob" {
		t.Fatalf("the kinds are %v", got)
	}
	hooks := Webhook{Webhook: scaffold.Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true, Conversion: true}, Certs: "self"}
	if _, err := CreateWebhook(ctx, s, hooks); err != nil {
		t.Fatal(err)
	}
	if got := kinds()[0].Webhooks; got == nil || !got.Defaulting || got.Conversion {
		t.Errorf("the webhooks are %+v: conversion needs a second version", got)
	}
	if len(operationtest.Of[report.Warning](told)) != 1 {
		t.Errorf("the warnings are %v", operationtest.Of[report.Warning](told))
	}
	gone := Deletion{Deletion: scaffold.Deletion{Group: "batch", Version: "v1", Kind: "CronJob"}}
	if _, err := DeleteWebhook(ctx, s, WebhookDeletion{Deletion: gone}); err != nil {
		t.Fatal(err)
	}
	if _, err := DeleteAPI(ctx, s, gone); err != nil {
		t.Fatal(err)
	}
	if got := kinds(); len(got) > 0 {
		t.Errorf("the kinds are %v after all went", got)
	}
}

// TestChangeTwice: the second time there is nothing to do, and the session says so.
func TestChangeTwice(t *testing.T) {
	s, _ := BeginProject(t)
	on := true
	edit := Edit{MultiGroup: &on, License: &License{Name: "apache2", Owner: "Example"}}
	if _, err := EditProject(context.Background(), s, edit); err != nil {
		t.Fatal(err)
	}
	told := &operationtest.Events{}
	s.Handler = told
	if changes, err := EditProject(context.Background(), s, edit); err != nil || len(changes) > 0 {
		t.Fatalf("the second time changes %v, %v", changes, err)
	}
	for _, f := range operationtest.Of[report.File](told) {
		if f.Action != report.Kept {
			t.Errorf("the second time %s is %s", f.Path, f.Action)
		}
	}
	if notes := operationtest.Of[report.Note](told); len(notes) != 1 {
		t.Errorf("the notes are %v", notes)
	}
}

func TestEdits(t *testing.T) {
	on := true
	for _, test := range []struct {
		name  string
		edit  Edit
		want  int    // edits
		where string // of the mistake; empty for none
	}{
		{"nothing", Edit{}, 0, ""},
		{"layout and scope", Edit{MultiGroup: &on, Namespaced: &on}, 2, ""},
		{"features", Edit{Enable: []string{"prometheus", " network-policy"}, Disable: []string{"pprof"}}, 3, ""}, // one says who makes what is new
		{"namespaced is more than a feature", Edit{Enable: []string{"namespaced"}}, 1, ""},
		{"certificates", Edit{Certs: "self"}, 2, ""},
		{"license", Edit{License: &License{Name: "none"}}, 1, ""},
		{"unknown feature", Edit{Enable: []string{"prometeus"}}, 0, "--enable"},
		{"on and off", Edit{Enable: []string{"pprof"}, Disable: []string{"pprof"}}, 0, "--enable, --disable"},
		{"unknown provider", Edit{Certs: "acme"}, 0, "--certs"},
		{"no license file", Edit{License: &License{File: "missing.txt"}}, 0, "--license-file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := operationtest.Begin(t, t.TempDir())
			edits, err := edits(s, test.edit)
			if len(edits) != test.want {
				t.Errorf("%d edits, want %d; %v", len(edits), test.want, err)
			}
			switch {
			case test.where == "" && err != nil:
				t.Error(err)
			case test.where != "" && operationtest.Mistake(t, err).Where != test.where:
				t.Errorf("%v, want a mistake in %s", err, test.where)
			}
		})
	}
}

// TestEditNothing: an edit without a change is a mistake of its caller.
func TestEditNothing(t *testing.T) {
	s, _ := BeginProject(t)
	if err := operationtest.Mistake(t, operationtest.Err(EditProject(context.Background(), s, Edit{}))); err.ExitCode() != report.UsageCode {
		t.Errorf("exit code %d: %v", err.ExitCode(), err)
	}
}
