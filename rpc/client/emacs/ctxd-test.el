;;; ctxd-test.el --- Tests of ctxd.el against a real daemon  -*- lexical-binding: t -*-

;;; Commentary:

;; Run by rpc/client/emacs_test.go, which starts a daemon and says by
;; $CTXD_TEST_VAULT where the vault of the fixtures is.  Keys are
;; pressed by keyboard macros.

;;; Code:

(require 'ert)
(require 'ctxd)

(declare-function eglot-current-server "ext:eglot")
(declare-function eglot-managed-p "ext:eglot")
(declare-function eglot-shutdown "ext:eglot")
(declare-function eglot-completion-at-point "ext:eglot")
(declare-function lsp-workspaces "ext:lsp-mode")
(declare-function lsp--workspace-status "ext:lsp-mode")
(declare-function lsp-completion-at-point "ext:lsp-completion")
(declare-function lsp-workspace-shutdown "ext:lsp-mode")
(defvar eglot-sync-connect)
(defvar lsp-auto-configure)
(defvar lsp-auto-guess-root)
(defvar lsp-enable-snippet)
(defvar lsp-session-file)

(package-initialize)
(unless (require 'markdown-mode nil t)
  (define-derived-mode markdown-mode text-mode "Markdown"
    "Stand in for the package of that name."))
(add-to-list 'auto-mode-alist '("\\.md\\'" . markdown-mode))
(setq ctxd-timeout 60
      ctxd-language-server nil)
(ctxd-setup)
(global-set-key (kbd "C-c n") ctxd-command-map)

(defconst ctxd-test-vault (getenv "CTXD_TEST_VAULT"))

(defun ctxd-test-wait (what test)
  "Wait until TEST returns something and return that; WAIT in vain for WHAT is an error."
  (let ((end (+ (float-time) 60)) got)
    (while (not (setq got (funcall test)))
      (when (> (float-time) end) (error "Waited in vain for %s" what))
      (accept-process-output nil 0.02))
    got))

(defmacro ctxd-test-in (note &rest body)
  "Visit NOTE of the vault and run BODY there; what BODY writes is not saved."
  (declare (indent 1))
  `(let ((buffer (find-file-noselect (expand-file-name ,note ctxd-test-vault))))
     (unwind-protect
         (save-window-excursion
           (switch-to-buffer buffer)
           ,@body)
       (with-current-buffer buffer (set-buffer-modified-p nil))
       (kill-buffer buffer))))

(defun ctxd-test-press (&rest keys)
  "Press KEYS, strings as `kbd' reads them."
  (execute-kbd-macro (kbd (string-join keys " "))))

(defun ctxd-test-type (text)
  "Return the keys that type TEXT."
  (mapconcat (lambda (c) (if (= c ?\s) "SPC" (char-to-string c))) text " "))

(defun ctxd-test-shows (name text)
  "Wait until the buffer NAME contains TEXT, and return what it contains."
  (ctxd-test-wait (format "%s in %s" text name)
                  (lambda ()
                    (and (get-buffer name)
                         (with-current-buffer name
                           (and (string-search text (buffer-string)) (buffer-string)))))))

(defun ctxd-test-line ()
  "Return the line at point."
  (buffer-substring-no-properties (line-beginning-position) (line-end-position)))

(defun ctxd-test-said (text)
  "Wait until a message contains TEXT."
  (ctxd-test-shows "*Messages*" text))

(ert-deftest ctxd-test-mode-is-on-in-notes-alone ()
  (ctxd-test-in "Journal/2025-03-04.md"
    (should ctxd-mode)
    (should (equal (file-truename (project-root (project-current)))
                   (file-name-as-directory (file-truename ctxd-test-vault)))))
  (let ((file (expand-file-name "README.md" (make-temp-file "ctxd-test-" t))))
    (with-temp-file file (insert "# Not a note\n"))
    (with-current-buffer (find-file-noselect file)
      (should-not ctxd-mode)
      (should-error (ctxd-note) :type 'user-error)
      (kill-buffer))))

(ert-deftest ctxd-test-completes-links ()
  (ctxd-test-in "Journal/2025-03-04.md"
    (goto-char (point-max))
    (ctxd-test-press (ctxd-test-type "[[project alpha k") "C-M-i")
    (should (equal (ctxd-test-line) "[[Project Alpha Kickoff]]"))
    ;; Brackets that are there are not written again.
    (ctxd-test-press "RET" (ctxd-test-type "[[]]") "C-b C-b" (ctxd-test-type "Project Alpha K") "C-M-i")
    (should (equal (ctxd-test-line) "[[Project Alpha Kickoff]]"))
    (should (eolp))
    ;; An alias is written as a link to its note.
    (ctxd-test-press "RET" (ctxd-test-type "[[Hefter Two K") "C-M-i")
    (should (string-match-p "\\`\\[\\[.*Kickoff.*\\]\\]\\'" (ctxd-test-line)))))

(ert-deftest ctxd-test-lists-candidates-in-the-order-of-the-daemon ()
  (ctxd-test-in "Journal/2025-03-04.md"
    (goto-char (point-max))
    (insert "[[Project Al")
    (pcase-let* ((`(,start ,end ,table . ,more) (ctxd-completion-at-point))
                 (candidates (all-completions "Project Al" table)))
      (should (equal (buffer-substring-no-properties start end) "Project Al"))
      (should (equal (seq-take candidates 2) '("Project Alpha" "Project Alpha Kickoff")))
      (should (equal (funcall (plist-get more :annotation-function) "Project Alpha Kickoff")
                     "  Meetings/Project Alpha Kickoff.md")))))

(ert-deftest ctxd-test-completes-mentions-and-tags ()
  (ctxd-test-in "Journal/2025-03-04.md"
    (goto-char (point-max))
    (ctxd-test-press (ctxd-test-type "met @Alice") "C-M-i")
    (should (equal (ctxd-test-line) "met @Alice Novak"))
    (ctxd-test-press "RET" (ctxd-test-type "see #handb") "C-M-i")
    (should (equal (ctxd-test-line) "see #handbook"))
    (insert "\nan e-mail to x@Alice")
    (should-not (ctxd-completion-at-point))))

(defun ctxd-test-empty-list ()
  "Have the list of an earlier test not be taken for that of this one.
It is not killed: timers of xref.el need it."
  (when (get-buffer "*xref*")
    (with-current-buffer "*xref*"
      (let ((inhibit-read-only t)) (erase-buffer)))))

(ert-deftest ctxd-test-search ()
  (ctxd-test-empty-list)
  (ctxd-test-in "Journal/2025-03-04.md"
    (ctxd-test-press "C-c n s" (ctxd-test-type "load cell drift") "RET")
    (let ((shown (ctxd-test-shows "*xref*" ".md")))
      (should (string-match-p "Decisions/\\|Handbook/\\|Meetings/" shown)))
    (with-current-buffer "*xref*"
      (goto-char (point-min))
      (xref-next-line)
      (xref-goto-xref))
    (should (string-prefix-p (file-truename ctxd-test-vault)
                             (file-truename (buffer-file-name (window-buffer))))))
  (ctxd-search "zzzqqqxxx")
  (ctxd-test-said "Nothing is about zzzqqqxxx"))

(ert-deftest ctxd-test-related ()
  (ctxd-test-empty-list)
  (ctxd-test-in "Meetings/Project Alpha Kickoff.md"
    (ctxd-test-press "C-c n r")
    (ctxd-test-shows "*xref*" "Projects/Project Alpha.md")))

(ert-deftest ctxd-test-context ()
  (ctxd-test-in "Meetings/Project Alpha Kickoff.md"
    (ctxd-test-press "C-c n c" (ctxd-test-type "what did @Alice decide?") "RET")
    (ctxd-test-shows "*ctxd prompt*" "role: Engineering Manager")
    (should (string-search "role: Engineering Manager" (current-kill 0)))
    ;; Without words it is about the note, and with a prefix argument only copied.
    (kill-buffer "*ctxd prompt*")
    (ctxd-test-press "C-u C-c n c RET")
    (ctxd-test-wait "the prompt" (lambda () (string-search "the long table" (current-kill 0))))
    (should-not (get-buffer "*ctxd prompt*"))))

(ert-deftest ctxd-test-graph ()
  (ctxd-test-in "Meetings/Project Alpha Kickoff.md"
    (ctxd-test-press "C-c n g RET")
    (ctxd-test-shows "*ctxd graph*" "→ 10 notes")
    (ctxd-graph "Nobody At All")
    (ctxd-test-said "Nobody At All")))

(ert-deftest ctxd-test-ask ()
  (ctxd-test-in "Meetings/Project Alpha Kickoff.md"
    (ctxd-test-press "C-c n a" (ctxd-test-type "Who came?") "RET")
    (ctxd-test-shows "*ctxd answer*" "No provider of language models is configured")
    (let ((over (lambda () (not (buffer-local-value 'ctxd--asking (get-buffer "*ctxd answer*")))))
          (first (buffer-local-value 'ctxd--conversation (get-buffer "*ctxd answer*"))))
      (ctxd-test-wait "the end of the answer" over)
      (should first)
      (ctxd-test-press "C-c n a" (ctxd-test-type "And who did not?") "RET")
      (ctxd-test-shows "*ctxd answer*" "# And who did not?")
      (ctxd-test-wait "the end of the answer" over)
      (should (equal first (buffer-local-value 'ctxd--conversation (get-buffer "*ctxd answer*"))))
      (should-not ctxd--answers)
      (with-current-buffer "*ctxd answer*"
        (should (eq (key-binding (kbd "C-c C-c")) #'ctxd-stop)))
      (ctxd-test-press "C-u C-c n a" (ctxd-test-type "Another thing?") "RET")
      (ctxd-test-shows "*ctxd answer*" "# Another thing?")
      (ctxd-test-wait "the end of the answer" over)
      (with-current-buffer "*ctxd answer*"
        (should-not (string-search "Who came?" (buffer-string)))
        (should-not (equal first ctxd--conversation))))))

(ert-deftest ctxd-test-remember ()
  (ctxd-test-in "Meetings/Project Alpha Kickoff.md"
    (ctxd-test-press "C-c n m" (ctxd-test-type "The kettle is green.") "RET")
    (ctxd-test-said "Remembered as #")
    (should (seq-find (lambda (memory) (equal (plist-get memory :statement) "The kettle is green."))
                      (plist-get (ctxd-call 'memory.list) :memories)))))

(ert-deftest ctxd-test-errors-say-what-to-try ()
  (let ((err (should-error (ctxd-call 'notes.get '(:ref "No Such Note")) :type 'user-error)))
    (should (string-search "no note has that id, path or title.  Try: " (cadr err))))
  (ctxd-disconnect)
  (let ((ctxd-program "ctxd-is-not-here"))
    (should (string-search "There is no program"
                           (cadr (should-error (ctxd-call 'vault.list) :type 'user-error)))))
  ;; The next call connects again.
  (should (ctxd--vaults)))

(ert-deftest ctxd-test-a-lost-connection-is-made-again ()
  (ctxd--connect)
  (let ((process (jsonrpc--process ctxd--connection)))
    (delete-process process)
    (ctxd-test-wait "the end of the connection" (lambda () (not (process-live-p process)))))
  (should (ctxd--vaults)))

(ert-deftest ctxd-test-eglot ()
  (unless (require 'eglot nil t)
    (ert-skip "Eglot is not installed (Emacs 28: elpa-eglot)"))
  (let ((ctxd-language-server 'eglot)
        (eglot-sync-connect 60))
    (ctxd-test-in "Journal/2025-03-04.md"
      ;; In batch mode nothing runs the hook that eglot-ensure waits for.
      (run-hooks 'post-command-hook)
      (ctxd-test-wait "the language server" (lambda () (and (eglot-managed-p) (eglot-current-server))))
      (unwind-protect
          (progn
            (goto-char (point-max))
            (insert "[[Alph")
            (run-hooks 'post-command-hook)
            (pcase-let* ((`(,start ,end ,table . ,more) (eglot-completion-at-point))
                         (candidates (all-completions (buffer-substring start end) table))
                         (review (seq-find (lambda (c) (string-search "Alpha Design Review" c)) candidates)))
              (should review)
              (delete-region start end)
              (insert review)
              (funcall (plist-get more :exit-function) review 'finished))
            (should (equal (ctxd-test-line) "[[Alpha Design Review]]"))
            ;; A title with blanks is completed as well.
            (ctxd-test-press "RET" (ctxd-test-type "[[project alpha k") "C-M-i")
            (should (equal (ctxd-test-line) "[[Project Alpha Kickoff]]")))
        (eglot-shutdown (eglot-current-server))))))

(ert-deftest ctxd-test-lsp-mode ()
  (let ((lsp-session-file (make-temp-file "ctxd-lsp-")))
    (unless (require 'lsp-mode nil t)
      (ert-skip "lsp-mode is not installed (Debian: elpa-lsp-mode)"))
    (require 'lsp-completion)
    (let ((lsp-auto-guess-root t) (lsp-enable-snippet nil) (lsp-auto-configure nil))
      (ctxd-test-in "Journal/2025-03-04.md"
        (lsp)
        (ctxd-test-wait "the language server"
                        (lambda () (and (lsp-workspaces)
                                        (eq (lsp--workspace-status (car (lsp-workspaces))) 'initialized))))
        (goto-char (point-max))
        (insert "[[Project Alpha K")
        (pcase-let ((`(,start ,end ,table . ,_) (lsp-completion-at-point)))
          (should (seq-find (lambda (c) (string-search "Project Alpha Kickoff" c))
                            (all-completions (buffer-substring start end) table))))
        (lsp-workspace-shutdown (car (lsp-workspaces)))))))

(provide 'ctxd-test)

;;; ctxd-test.el ends here
