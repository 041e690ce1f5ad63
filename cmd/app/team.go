package app

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/escalation"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/propagation"
	learningstore "github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/operational"
	operationalstore "github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/crossing"
	"github.com/skillrouter/skillrouter/router/interlock"
	"github.com/skillrouter/skillrouter/router/reminder"
	"github.com/skillrouter/skillrouter/router/session"
)

// escalationRules loads the rules that the settings name, or the built-in ones.
func (a *App) escalationRules(known func(agent string) bool) (*escalation.Rules, error) {
	supervisors, err := a.config.Escalation.SupervisorOf()
	if err != nil {
		return nil, err
	}
	options := escalation.Options{Supervisors: supervisors, Known: known, Log: a.log}
	if a.config.CompatiblePorts { // the originals' agents poll their own mailboxes
		options.Rename = escalation.Originals
	}
	name := a.config.Escalation.Rules
	if name == "" {
		return escalation.DefaultRules(options)
	}
	text, err := file.ReadHead(name, escalation.MaxFile+1)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the escalation rules %s cannot be read", name)
	}
	return escalation.LoadRules(name, text, options)
}

// crossingServices are what stands between the two domains.
type crossingServices struct {
	rules      *escalation.Rules
	escalation *operational.Escalations
	lessons    *propagation.Propagation
	service    *crossing.Crossing
	memory     *router.AgentMemory
}

// escalations are the escalations as callers see them.
func (b crossingServices) escalations() operational.EscalationService {
	return router.SettledEscalations{EscalationService: b.escalation, Crossing: b.service}
}

// cross builds what carries events from one domain to the other. Its Crossing has yet to run.
func (a *App) cross(ctx context.Context, memory *learningstore.Store, operations *operationalstore.Store,
	episodes *episode.Episodes, presence *comms.Presence, mailbox *comms.Mailbox,
) (crossingServices, error) {
	b := crossingServices{escalation: operational.NewEscalations(operations, a.now)}
	var err error
	if b.rules, err = a.escalationRules(presence.Knows); err != nil {
		return b, err
	}
	b.lessons = propagation.New(memory)
	b.service, err = crossing.New(ctx, crossing.Ports{
		Learning: memory, Operational: operations, Escalations: b.escalation, Episodes: episodes, Lessons: b.lessons, Agents: presence,
		Send: mailbox.Tell,
	}, crossing.Options{Now: a.now, Log: a.log, Rules: b.rules})
	if err != nil {
		return b, fmt.Errorf("read how far the logs were followed: %w", err)
	}
	b.memory = router.NewAgentMemory(router.MemorySources{Lessons: memory, Domains: b.lessons, Pending: b.escalation, Crossing: b.service}, a.now)
	return b, nil
}

func (a *App) wireReminders(ctx context.Context, p *parts) error {
	reminders := operational.NewReminders(p.operations, operational.ReminderOptions{
		Now: a.now, Log: a.log, Mail: p.mailbox, Recipients: reminder.NewRoster(p.presence, a.now),
		Condition: reminder.CheckCondition, Elsewhere: p.memory.LastEvent,
	})
	if a.aside == nil { // else the node that writes lets them come due
		p.presence.OnWork(reminders.AtWork)
	}
	watch, err := reminder.NewWatch(ctx, reminder.Ports{
		Reminders: reminders, Cursors: p.operations, Learning: p.memory, Operational: p.operations, Signals: p.operations.SignalLog(),
		Episodes: p.memory, Facts: p.memory,
	}, a.now, a.log)
	if err != nil {
		return fmt.Errorf("read how far the logs were followed for reminders: %w", err)
	}
	a.runs(ctx, "reminders", reminders.Run)
	a.runs(ctx, "reminder watch", watch.Run)
	p.reminders = reminders
	return nil
}

// wireSessions builds the sessions, which hand over what the parts before them have open.
func (a *App) wireSessions(ctx context.Context, p *parts) error {
	sessions, err := session.NewSessions(ctx, session.Ports{
		Store: p.operations, Episodes: p.episodes, Tasks: p.tasks, Mail: p.presence,
		Procedures: p.procedures, Reminders: p.reminders, Consolidation: p.consolidation,
	}, session.Options{Now: a.now, Log: a.log})
	if err != nil {
		return fmt.Errorf("load the open sessions: %w", err)
	}
	p.sessions = sessions
	return nil
}

// claimed gives the guard what others work on as matches.
func claimed(leases *lease.Leases) func(agent string, files []rule.File) []rule.Match {
	return func(agent string, files []rule.File) []rule.Match {
		asked := make([]lease.ChangedFile, len(files))
		for i, f := range files {
			asked[i] = lease.ChangedFile(f)
		}
		judged := leases.Judge(agent, asked)
		matches := make([]rule.Match, 0, len(judged.Claims))
		for _, f := range judged.Claims {
			m := rule.Match{RuleID: fmt.Sprintf("lease:%d", f.LeaseID), Title: f.Says(), Lane: rule.LaneLease, Severity: learning.SeverityMedium, Reason: "the action changes " + rule.Short(f.Path), WhyBad: f.Why, Confidence: 1, Blocks: f.Blocks}
			switch {
			case f.Blocks:
				m.Severity = learning.SeverityHigh
				fallthrough
			case f.LeaseID != 0:
				m.Alternatives = []string{fmt.Sprintf("skillrouter leases ask %d 'what you need, and when'", f.LeaseID), "work on other files: skillrouter leases list"}
			default:
				m.RuleID = "editing"
				m.Alternatives = []string{fmt.Sprintf("skillrouter signal %s %s --text 'who goes on with this file?'", f.AgentID, operational.SignalMessage)}
			}
			matches = append(matches, m)
		}
		return matches
	}
}

// maxLeaseFiles bounds the files of a project that are counted when a lease is taken; of a larger one the first are looked at.
const maxLeaseFiles = 10_000

// notOwn are folders whose files no agent of a project writes.
var notOwn = []string{".git", ".hg", ".svn", "node_modules", "vendor", ".venv", "venv", "__pycache__", "target", "dist", "build", ".cache"}

// projectFiles lists the regular files of a working folder, relative to it, without what is not the project's own; nil: it cannot be read.
func projectFiles(folder string) (files []string) {
	if !filepath.IsAbs(folder) {
		return nil
	}
	_ = fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && entry != nil && entry.IsDir():
			return fs.SkipDir
		case err != nil || len(files) >= maxLeaseFiles:
			return fs.SkipAll
		case entry.IsDir() && slices.Contains(notOwn, entry.Name()):
			return fs.SkipDir
		case entry.Type().IsRegular():
			files = append(files, path)
		}
		return nil
	})
	return files
}

// wireMesh opens the UDP mesh, if the settings ask for it.
func (a *App) wireMesh(ctx context.Context, p *parts) error {
	p.mesh, p.meshState = interlock.Off{}, comms.MeshOff
	p.outbound = meshOutbound(config.Address{Setting: "interlock.listen"}, nil)
	address, on := a.config.InterLockAddress()
	if !on || a.aside != nil {
		return nil
	}
	file, err := interlock.ReadFile(a.config.InterLockFile())
	if err != nil {
		return err
	}
	socket, err := interlock.Listen(address.Listen)
	if err != nil {
		return cannotListen(address, "UDP ", err)
	}
	a.life.defers("interlock socket", func() error { return ignoreClosed(socket.Close()) })
	mesh, err := interlock.New(ctx, socket, file, interlock.Services{
		Experiences: p.experiences, Lessons: p.lessons, Log: p.memory, Issued: p.tokens.Issued,
	}, interlock.Options{Now: a.now, Log: a.log})
	if err != nil {
		return err
	}
	a.life.run(ctx, "interlock", mesh.Run)
	p.mesh, p.meshStatus = mesh, mesh.Status
	p.meshState = comms.MeshOn + " (udp " + mesh.Address().String() + ")"
	p.outbound = meshOutbound(address, file.Peers)
	a.log.Info("the mesh is on", "address", mesh.Address().String(), "peers", len(file.Peers))
	return nil
}

// meshOutbound describes whom the mesh sends to: the peers that its file lists, and nobody else.
func meshOutbound(address config.Address, peers []interlock.Peer) router.Outbound {
	place := router.Outbound{Name: "mesh", Purpose: "tells peers what was learned", Setting: address.Setting, On: len(peers) > 0}
	targets := make([]string, 0, len(peers))
	for _, peer := range peers {
		targets = append(targets, "udp://"+peer.Address.String())
		place.Leaves = place.Leaves || !peer.Address.Addr().IsLoopback()
	}
	place.Target = strings.Join(targets, " ")
	return place
}

// plannedMesh is the meshOutbound that settings would make; a file that cannot be read would end the start.
func plannedMesh(c config.Config) router.Outbound {
	address, on := c.InterLockAddress()
	if !on {
		return meshOutbound(config.Address{Setting: "interlock.listen"}, nil)
	}
	file, err := interlock.ReadFile(c.InterLockFile())
	if err != nil {
		return meshOutbound(address, nil)
	}
	return meshOutbound(address, file.Peers)
}

// collectMesh gives the mesh's counters to the metrics.
func collectMesh(give emit, mesh comms.Mesh) {
	give("skillrouter_interlock_received_total", "Datagrams that came in.", float64(mesh.Received))
	give("skillrouter_interlock_unsent_total", "Datagrams that could not be sent.", float64(mesh.Unsent))
	for _, counts := range []struct {
		what, help, label string
		by                map[string]int64
	}{
		{"heard", "Datagrams that were acted on, by signal.", "signal", mesh.Heard},
		{"emitted", "Datagrams that were sent to peers, by signal.", "signal", mesh.Emitted},
		{"refused", "Datagrams that were refused, by reason.", "reason", mesh.Refused},
	} {
		for value, n := range counts.by {
			give("skillrouter_interlock_"+counts.what+"_total", counts.help, float64(n), counts.label, value)
		}
	}
}
