"""Holds lesson_reporter.py to what it promises where no router helps it: run me with python3."""

import asyncio
import contextlib
import http.server
import inspect
import io
import json
import os
import sys
import threading
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lesson_reporter as module
from lesson_reporter import CheckResult, LessonReporter, LessonReporterSync, quick_lesson, quick_lesson_sync


class Router(http.server.ThreadingHTTPServer):
    """Answers every call with what the test says, and remembers it."""

    def __init__(self, status=200, body=b"{}", location=None):
        super().__init__(("127.0.0.1", 0), Desk)
        self.status, self.body, self.location, self.calls = status, body, location, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Desk(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append((self.path, dict(self.headers), json.loads(raw)))
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        self.wfile.write(self.server.body)

    do_GET = do_POST

    def log_message(self, *_):
        pass


class Reporter(unittest.TestCase):
    def setUp(self):
        self.said = io.StringIO()
        quiet = contextlib.redirect_stderr(self.said)
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)
        self.set()

    def set(self, **variables):
        variables = {"MNEMOSYNE_URL": "http://127.0.0.1:1", **variables}
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def test_settings(self):
        os.environ.pop("MNEMOSYNE_URL")
        reporter = LessonReporter("CHRONOS")
        self.assertEqual(("CHRONOS", "infrastructure", "http://localhost:8025", True),
                         (reporter.agent_name, reporter.domain, reporter.mnemosyne_url, reporter.enabled))
        self.assertEqual("general", LessonReporter("nobody").domain)
        reporter.domain = "backups"
        self.assertEqual("backups", reporter.sync.domain)

    def test_disabled(self):
        self.set(LEARNING_ENABLED="False")
        reporter = LessonReporter("A")
        answer = asyncio.run(reporter.success(title="t", context="c", action_taken="a", outcome="o"))
        self.assertEqual({"status": "disabled"}, answer)
        self.assertEqual({"status": "disabled"}, asyncio.run(quick_lesson("A", "failure", "t", "c", "o")))
        self.assertEqual("", self.said.getvalue())

    def test_unreachable(self):
        reporter = LessonReporter("A")
        for answer in (
            asyncio.run(reporter.failure("t", "c", "a", "o", tags=None, alternatives=None)),
            asyncio.run(reporter.anti_pattern("t", "w", "e", [])),
            asyncio.run(reporter.workaround("t", "p", "w")),
            asyncio.run(reporter.discovery("t", "c", "d")),
            asyncio.run(reporter.check_outcome("some-check", "heeded")),
            reporter.sync.success("t", "c", "a", "o"),
            quick_lesson_sync("A", "warning", "t", "c", "o"),
        ):
            self.assertEqual("error", answer["status"])
        check = asyncio.run(reporter.check_before_action("rm -rf /", "why"))
        self.assertFalse(check.blocked)
        self.assertEqual(["Check failed - proceed with caution"], check.get("warnings"))
        self.assertEqual("error", reporter.sync.check_outcome(check, "overridden")["status"])
        self.assertEqual([], asyncio.run(reporter.get_relevant_lessons("task")))
        self.assertIn("[A] Failed to report lesson: ", self.said.getvalue())
        self.assertIn("[A] Anti-pattern check failed: ", self.said.getvalue())

    def test_bad_addresses_and_values(self):
        for url in ("file:///etc/passwd", "ftp://127.0.0.1/", "localhost:8025", "http://", ""):
            self.set(MNEMOSYNE_URL=url)
            self.assertEqual("error", LessonReporterSync("A").success("t", "c", "a", "o")["status"], url)
        self.set()
        self.assertEqual("error", LessonReporterSync("A").success("t", "c", "a", "o", confidence=float("nan"))["status"])
        self.assertEqual("error", LessonReporterSync("A").report("success", "t", "c", "a", "o", tags={1, 2})["status"])

    def test_refusal(self):
        with Router(400, b'{"error": "title is required", "code": "invalid"}') as router:
            self.set(MNEMOSYNE_URL=router.url + "/")
            answer = asyncio.run(LessonReporter("A").success("", "c", "a", "o"))
        self.assertEqual({"status": "error", "error": "title is required (400)"}, answer)

    def test_strange_answers(self):
        for status, body in ((200, b"<html>"), (200, b""), (502, b"<html>"), (500, b"[1]"), (200, b"\xff")):
            with Router(status, body) as router:
                self.set(MNEMOSYNE_URL=router.url)
                reporter = LessonReporterSync("A")
                self.assertEqual("error", reporter.success("t", "c", "a", "o")["status"], body)
                self.assertFalse(reporter.check_before_action("x", "y").blocked, body)
                self.assertEqual([], reporter.get_relevant_lessons("t"), body)

    def test_token_is_sent_and_stays(self):
        with Router() as other, Router(307, location=None) as router:
            router.location = other.url + "/lessons/report"
            self.set(MNEMOSYNE_URL=router.url, SKILLROUTER_TOKEN="secret", http_proxy=other.url)
            self.assertEqual("error", LessonReporterSync("A").success("t", "c", "a", "o")["status"])
            self.assertEqual("Bearer secret", router.calls[0][1]["Authorization"])
            self.assertEqual([], other.calls)

    def test_lessons_are_what_the_paper_sends(self):
        with Router(body=b'{"lesson_id": "l1"}') as router:
            self.set(MNEMOSYNE_URL=router.url)
            reporter = LessonReporter("AEGIS")
            asyncio.run(reporter.failure("t", "c", "a", "o", root_cause="r", severity="high", related_commands=["x"]))
            asyncio.run(reporter.anti_pattern("t", "why", "rm -rf /data", ["mv"], tags=["k"], category="disks"))
            reporter.sync.workaround("t", "p", "w", permanent_fix="f")
            reporter.sync.discovery("t", "c", "d", implications=["i"])
            sent = [call[2] for call in router.calls]
        self.assertEqual({
            "lesson_type": "failure", "domain": "security", "category": "security", "title": "t", "context": "c", "action_taken": "a",
            "outcome": "o", "root_cause": "r", "solution": None, "alternatives": [], "severity": "high", "tags": [],
            "source_agent": "AEGIS", "related_commands": ["x"], "confidence": 0.8,
        }, sent[0])
        self.assertEqual({
            "lesson_type": "anti_pattern", "domain": "security", "category": "disks", "title": "t", "context": "why", "action_taken": "rm -rf /data",
            "outcome": "BLOCKED - Known anti-pattern", "alternatives": ["mv"], "severity": "high", "tags": ["k", "anti-pattern", "blocked"],
            "source_agent": "AEGIS", "confidence": 1.0,
        }, sent[1])
        self.assertEqual(("Issue mitigated", "f", ["workaround"], 0.85), tuple(sent[2][k] for k in ("outcome", "solution", "tags", "confidence")))
        self.assertEqual(("Investigation/observation", "d", ["i"], 0.7), tuple(sent[3][k] for k in ("action_taken", "outcome", "alternatives", "confidence")))

    def test_quick_lessons_of_every_type(self):
        with Router() as router:
            self.set(MNEMOSYNE_URL=router.url)
            for kind in module.LESSON_TYPES:
                quick_lesson_sync("A", kind, "t", "c", "o")
            asyncio.run(quick_lesson("A", "insight", "t", "c", "o", implications=["i"]))
            asyncio.run(quick_lesson("A", "anti_pattern", "t", "c", "o", why_bad="w", example="e", alternatives=["x"], category="k", severity="low"))
            sent = [call[2] for call in router.calls]
        self.assertEqual(list(module.LESSON_TYPES) + ["discovery", "anti_pattern"], [lesson["lesson_type"] for lesson in sent])
        for lesson in sent[:7]:
            self.assertEqual(("t", "c", "o"), (lesson["title"], lesson["context"], lesson["outcome"]))
            self.assertTrue(lesson["action_taken"])
        self.assertEqual(["i"], sent[7]["alternatives"])
        self.assertEqual(("w", "e", ["x"], "k", "low"), tuple(sent[8][k] for k in ("context", "action_taken", "alternatives", "category", "severity")))

    def test_check_result_is_both(self):
        result = CheckResult({"blocked": True, "alternatives": ["mv"]})
        self.assertTrue(result.blocked and result["blocked"] and result.get("blocked"))
        self.assertEqual(([], ["mv"], ""), (result.warnings, result.alternatives, result.check_id))
        self.assertEqual(CheckResult(result), json.loads(json.dumps(result)))
        with self.assertRaises(AttributeError):
            result.nothing
        CheckResult().warnings.append("x")
        self.assertEqual([], CheckResult().warnings)

    def test_both_views_take_the_same(self):
        for name, method in inspect.getmembers(LessonReporterSync, inspect.isfunction):
            if not name.startswith("_"):
                twin = getattr(LessonReporter, name)
                self.assertEqual(inspect.signature(method), inspect.signature(twin), name)
                self.assertTrue(inspect.iscoroutinefunction(twin), name)


if __name__ == "__main__":
    unittest.main()
