package scaffold

import (
	"context"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/deletion"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fieldcopy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/lock"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newversion"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/transaction"
	"github.com/slipway-dev/slipway/project"
)

// Inputs of verbs, and the plans that verbs make of them.
type (
	// A Plan is a set of file changes that is decided and not yet written.
	Plan = plan.Plan
	// A Difference is what a plan would do to one file.
	Difference = plan.Difference
	// A Replaced is the earlier state of a file that something after a plan wrote.
	Replaced = plan.Replaced

	// A Project has the options of [Init].
	Project = newproject.Options
	// A License is the text at the top of a project's Go files.
	License = header.License
	// An API has the options of [CreateAPI].
	API = newapi.Options
	// An Image is the container that a kind's controller runs in a Deployment.
	Image = newapi.Image
	// An External is the place of Go types in another module.
	External = kind.External
	// A Webhook has the options of [CreateWebhook].
	Webhook = newwebhook.Options
	// A Version has the options of [CreateVersion].
	Version = newversion.Options
	// A VersionDeletion has the options of [DeleteVersion].
	VersionDeletion = newversion.Deletion
	// A RenamedField is a field in Go with another name than before.
	RenamedField = fieldcopy.Renamed
	// Folders are folders of the user that [Hold] needs.
	Folders = lock.Folders
	// A Deletion has the options of [DeleteAPI].
	Deletion = deletion.Options
	// A WebhookDeletion has the options of [DeleteWebhook]. If it selects no webhook, all are deleted.
	WebhookDeletion = deletion.WebhookOptions
)

// ImagePlugin is the key in PROJECT under which kubebuilder's plug-in records APIs that run an image.
const ImagePlugin = newapi.ImagePlugin

// Init plans a new project, or what is missing of it. It refuses a folder with another project, and names that
// Kubernetes or Go would refuse later.
func Init(folder *fileview.Folder, o Project) (*Plan, error) { return newproject.Create(folder, o) }

// CreateAPI plans an API. It keeps all existing files and adds what is missing.
func CreateAPI(folder *fileview.Folder, o API) (*Plan, error) { return newapi.Create(folder, o) }

// CheckAPI returns those refusals of [CreateAPI] that precede planning, so that callers can run it before they fetch
// modules.
func CheckAPI(folder *fileview.Folder, o API) error { return newapi.Check(folder, o) }

// CreateWebhook plans webhooks. It keeps all existing files and adds what is missing.
func CreateWebhook(folder *fileview.Folder, o Webhook) (*Plan, error) {
	return newwebhook.Create(folder, o)
}

// CheckWebhook returns those refusals of [CreateWebhook] that precede planning, as [CheckAPI] does.
func CheckWebhook(folder *fileview.Folder, o Webhook) error { return newwebhook.Check(folder, o) }

// CreateVersion plans a version of a kind with the types of another one. It returns the renamed fields: the plan
// compiles after [RenameUses] of these.
func CreateVersion(folder *fileview.Folder, o Version) (*Plan, []RenamedField, error) {
	return newversion.Create(folder, o)
}

// DeleteVersion plans the deletion of a version of a kind, which has another one. It returns the fields that are called
// otherwise there: the plan compiles after [RenameUses] of these. A missing version is no error; the plan has nothing
// to do.
func DeleteVersion(folder *fileview.Folder, o VersionDeletion) (*Plan, []RenamedField, error) {
	return newversion.Delete(folder, o)
}

// RenameUses gives renamed fields their new names at the places of mistakes that a compiler would report. It returns
// how many it has renamed.
func RenameUses(p *Plan, renamed []RenamedField, mistakes []report.Position) (int, error) {
	return newversion.RenameUses(p, renamed, mistakes)
}

// ErrOneVersion reports that a kind with a single version gets no conversion.
var ErrOneVersion = newwebhook.ErrOneVersion

// DeleteAPI plans the deletion of an API: its files, its lines in shared files and its entry in PROJECT. Files and
// lines that the user changed stay, and the plan's changes list them with the reason. A missing API is no error; the
// plan has nothing to do.
func DeleteAPI(folder *fileview.Folder, o Deletion) (*Plan, error) { return deletion.API(folder, o) }

// DeleteWebhook plans the deletion of webhooks; see [DeleteAPI].
func DeleteWebhook(folder *fileview.Folder, o WebhookDeletion) (*Plan, error) {
	return deletion.Webhook(folder, o)
}

// ReadProject reads PROJECT as it is written. Its errors are for the user.
func ReadProject(folder *fileview.Folder) (*project.Project, error) { return projectfile.Read(folder) }

// ProjectInCode reads PROJECT with what the code shows otherwise, such as the module path and the folders of types.
func ProjectInCode(folder *fileview.Folder) (*project.Project, error) {
	_, file, err := projectfile.Look(folder)
	return file, err
}

// Hold keeps other processes from changing the project until release is called. Callers make and apply a plan in
// between. Hold waits for another command, and reports that to h. Then it reverts what a killed command left.
func Hold(ctx context.Context, root string, own Folders, h report.Handler) (release func(), err error) {
	return lock.Hold(ctx, root, own, h)
}

// Interrupted reports whether a command in the folder is running or was killed, or something looks like one.
func Interrupted(root string) bool { return transaction.Interrupted(root) }

// CheckGo refuses a missing Go installation, or one that is too old for scaffolded projects.
func CheckGo(ctx context.Context, root string) error { return gomod.CheckGo(ctx, root) }

// Fetch ensures that every package that the project imports is in the module cache, and reports downloads to h. If all
// are there, it needs no network.
func Fetch(ctx context.Context, root string, h report.Handler) error {
	return gomod.Fetch(ctx, root, h)
}

// Require adds the module of an external kind to go.mod, unless go.mod requires it. It changes no other file than
// go.mod and go.sum.
func Require(ctx context.Context, root string, external External, h report.Handler) error {
	return gomod.Get(ctx, root, external.Path, external.Module, h)
}
