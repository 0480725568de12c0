package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/ship"
)

// CheckImage refuses a reference that no node could pull, also in the form NAME=REFERENCE.
func CheckImage(text string) error {
	replaces, image := kustomization.SplitImage(text)
	if replaces == "" {
		return &report.Error{What: "no name before = in " + text, Where: "--image", Hint: "expected REFERENCE, or NAME=REFERENCE with the image that it replaces"}
	}
	_, err := reference.Parse(image)
	return err
}

// runs reports whether a container of objects has the image that a flag names.
func runs(objects []*unstructured.Unstructured, text string) bool {
	_, image := kustomization.SplitImage(text)
	return ship.RunsImage(objects, image)
}

// noteSetImage notes that the Makefile's target deploy sets an image which this deployment without --image does not.
func noteSetImage(s *operation.Session, root string, d Deployment, objects []*unstructured.Unstructured) {
	deployed, err := s.Codebase(root).Deployed()
	if err != nil || d.Image != "" || deployed.Image == nil || !slices.Contains(deployed.Folders, d.applied) {
		return
	}
	image := deployed.Image
	text := fmt.Sprintf("%s:%d sets the image %s", image.At.File, image.At.Line, image.Name)
	switch {
	case image.Value == "":
	case ship.RunsImage(objects, image.Value):
		return
	default:
		text += " to " + image.Value
	}
	s.Handler.Handle(report.Note{Text: text + ", which deploy does not by itself: --image " + image.Flag() + " gives it"})
}

// withoutContainer refuses an image that no container would run, since the old image would be deployed. It lists the
// containers' images and suggests a command that works.
func (d Deployment) withoutContainer(ctx context.Context, built kustomization.Kustomization, objects []*unstructured.Unstructured) error {
	replaces, image := kustomization.SplitImage(d.Image)
	refused := &report.Error{What: "no container has the image " + replaces + ", which " + image + " replaces", Where: d.Folder, Code: report.UsageCode}
	has := ship.ContainerImages(objects)
	if len(has) == 0 {
		refused.Hint = "the kustomization has no containers: add the operator's Deployment to its resources"
		refused.Next = "slipway kustomize build " + shellword.Quote(d.Folder)
		return refused
	}
	refused.Hint = "--image NAME=REFERENCE names the image that is replaced; the containers have\n" + withWorkloads(has)
	for _, one := range has {
		name, _, _ := reference.Split(one.Image)
		built.Image = name + "=" + image
		if with, err := built.Build(ctx); err == nil && runs(with, built.Image) {
			refused.Next = d.command(built.Image)
			break
		}
	}
	return refused
}

// withWorkloads lists images with their workloads, one per line.
func withWorkloads(images []ship.ContainerImage) string {
	var lines []string
	for _, one := range images {
		line := "  " + one.Image + " (" + strings.ToLower(one.Workload.GetKind()) + "/" + one.Workload.GetName() + ")"
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// again returns the command line of this deployment with another folder.
func (d Deployment) again(folder string) string {
	return operation.NewCommandLine("slipway deploy", append(d.To.flags(), operation.FlagIf(d.print, "--print"), operation.FlagIf(d.DryRun, "--dry-run"), operation.FlagIf(d.Diff, "--diff"),
		operation.FlagIf(d.NoGenerate, "--no-generate"), operation.FlagIf(d.Image != "", "--image "+shellword.Quote(d.Image)))...)(folder)
}

// command returns the command line of this deployment with another image.
func (d Deployment) command(image string) string {
	d.Image = image
	return d.again(d.Folder)
}

// requireImages refuses image names that kubelets reject, with the file that has one. When printing it only warns:
// another tool may complete the names.
func requireImages(ctx context.Context, s *operation.Session, root string, d Deployment, objects []*unstructured.Unstructured) error {
	for _, container := range ship.ContainerImages(objects) {
		invalid, is := errors.AsType[*report.Error](reference.Check(container.Image))
		if !is || strings.HasPrefix(container.Image, kustomization.KoScheme) {
			continue
		}
		refused := &report.Error{Class: report.BadProject, What: container.Of() + " has an " + invalid.What, Err: invalid.Err, Hint: invalid.Hint, Where: origin(ctx, s, root, d.applied, container.Workload)}
		if !d.print {
			return refused
		}
		s.Handler.Handle(report.Warning{Text: refused.Error()})
	}
	return nil
}

// origin returns the file that defines an object of a kustomization, or the kustomization's folder if that is unknown.
func origin(ctx context.Context, s *operation.Session, root, folder string, object *unstructured.Unstructured) string {
	inside, err := filepath.Rel(root, ResolveFolder(root, folder))
	if err != nil || !filepath.IsLocal(inside) {
		return folder
	}
	return cmp.Or(s.Codebase(root).Origin(ctx, filepath.ToSlash(inside), object), folder)
}

// refuseKo refuses ko:// references, which no node can pull. When printing it only warns: the output may be for ko.
func refuseKo(s *operation.Session, d Deployment, objects []*unstructured.Unstructured) error {
	all := kustomization.KoReferences(objects)
	if len(all) == 0 {
		return nil
	}
	const image = "registry.example.com/operator:v1"
	refused := &report.Error{
		Class: report.BadProject,
		What:  "the manifests name programs for ko instead of images: " + strings.Join(all, ", "), Where: d.Folder,
		Hint: "no node can pull these; build the image, and name the reference and the image that replaces it; or `slipway deploy --print | ko apply -f -` has ko build it",
		Next: "slipway image build -t " + image + " && " + d.command(all[0]+"="+image),
	}
	if d.print {
		s.Handler.Handle(report.Warning{Text: refused.What + "; only `ko resolve` or `ko apply` replaces them"})
		return nil
	}
	return refused
}
