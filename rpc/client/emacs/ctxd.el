;;; ctxd.el --- Links, search and answers from your notes, with ctxd  -*- lexical-binding: t -*-

;; Author: The ctxd authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: convenience, hypermedia, outlines
;; URL: https://github.com/ctxd/ctxd
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; ctxd is a local context engine for folders of Markdown notes.  This
;; package completes links, mentions and tags, starts the language
;; server `ctxd lsp' with Eglot or lsp-mode, and has commands to search
;; by meaning, list related notes, show the prompt for a message, draw
;; the graph, ask a language model and remember.
;;
;;   (require 'ctxd)
;;   (ctxd-setup)
;;   (global-set-key (kbd "C-c n") ctxd-command-map)
;;
;; The program ctxd must be in the variable `exec-path'.  The daemon is
;; started when it is needed.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'project)
(require 'seq)
(require 'subr-x)
(require 'xref)

(defvar eglot-server-programs)
(defvar lsp-language-id-configuration)
(declare-function eglot-ensure "ext:eglot")
(declare-function lsp-deferred "ext:lsp-mode")
(declare-function lsp-register-client "ext:lsp-mode")
(declare-function lsp-stdio-connection "ext:lsp-mode")
(declare-function make-lsp-client "ext:lsp-mode")

;;;; Settings

(defgroup ctxd nil
  "Links, search and answers from your notes."
  :group 'convenience
  :prefix "ctxd-")

(defcustom ctxd-program "ctxd"
  "The program, by name or path."
  :type 'string)

(defcustom ctxd-markers '(".ctxd" ".obsidian" ".silverbullet" "logseq")
  "What the root of a vault contains.
A file without one of these above it belongs to the vault of the daemon
that it lies in."
  :type '(repeat string))

(defcustom ctxd-modes '(markdown-mode gfm-mode markdown-ts-mode)
  "Major modes of notes."
  :type '(repeat symbol))

(defcustom ctxd-language-server 'eglot
  "What starts the language server in notes, after `ctxd-setup'.
With nil nothing does; completion and commands work without it."
  :type '(choice (const :tag "Eglot" eglot)
                 (const :tag "lsp-mode" lsp-mode)
                 (const :tag "Nothing" nil)))

(defcustom ctxd-server-settings nil
  "Settings of the language server, as a property list.
For example (:import \"never\")."
  :type '(plist :key-type symbol :value-type sexp))

(defcustom ctxd-timeout 5
  "Seconds that completion and questions about files wait at most."
  :type 'number)

(defcustom ctxd-limit 30
  "Number of results that are listed at most."
  :type 'integer)

;;;; The daemon

(defvar ctxd--connection nil "The connection to the daemon, or nil.")

(defvar ctxd--answers nil
  "Where answers are written: an alist of message ids to buffers.
Until the daemon has given an id, the id that we gave stands there.")

(defun ctxd--program ()
  "Return the path of the program, or signal an error with what to do."
  (or (executable-find ctxd-program)
      (user-error "There is no program %s; install ctxd or set `ctxd-program'" ctxd-program)))

(defun ctxd--connect ()
  "Return a connection to the daemon, which is started where none answers."
  (unless (and ctxd--connection (jsonrpc-running-p ctxd--connection))
    (let* ((default-directory (expand-file-name "~/"))
           (connection
            (jsonrpc-process-connection
             :name "ctxd"
             :process (make-process
                       :name "ctxd" :command (list (ctxd--program) "stdio")
                       :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                       :stderr (get-buffer-create " *ctxd stderr*"))
             :notification-dispatcher #'ctxd--notified)))
      (jsonrpc-request connection 'initialize
                       `(:clientInfo (:name "emacs" :version ,emacs-version)
                         :processId ,(emacs-pid) :protocolVersion "2.0")
                       :timeout (max ctxd-timeout 30))
      (jsonrpc-notify connection 'initialized (make-hash-table))
      (setq ctxd--connection connection)))
  ctxd--connection)

(defun ctxd-disconnect ()
  "End the connection to the daemon.  A later command connects again."
  (interactive)
  (when ctxd--connection
    (ignore-errors (jsonrpc-shutdown ctxd--connection t))
    (setq ctxd--connection nil)))

(defun ctxd--complaint (err)
  "Return what a person should read of ERR, an error of JSON-RPC."
  (let ((hint (plist-get (plist-get err :data) :hint)))
    (concat (plist-get err :message)
            (and hint (format ".  Try: %s" hint)))))

(defun ctxd-call (method &optional params)
  "Call METHOD of the daemon with PARAMS, a property list, and return the result.
An error of the daemon is signalled as a `user-error'."
  (condition-case err
      (jsonrpc-request (ctxd--connect) method params :timeout ctxd-timeout)
    (jsonrpc-error
     (user-error "%s" (ctxd--complaint
                       (list :message (or (alist-get 'jsonrpc-error-message (cddr err)) (cadr err))
                             :data (alist-get 'jsonrpc-error-data (cddr err))))))))

(defun ctxd-call-then (method params then &optional otherwise)
  "Call METHOD of the daemon with PARAMS, and THEN with the result.
This returns at once.  An error is shown, after OTHERWISE was called."
  (jsonrpc-async-request
   (ctxd--connect) method params :timeout nil
   ;; A timer, since nothing may wait for the daemon while its messages are read.
   :success-fn (lambda (result) (run-at-time 0 nil then result))
   :error-fn (lambda (err)
               (when otherwise (funcall otherwise))
               (message "ctxd: %s" (ctxd--complaint err)))))

(defun ctxd--notified (_connection method params)
  "Do what METHOD with PARAMS, told by the daemon, asks for."
  (when (eq method 'chat.delta)
    (ctxd--told params)))

;;;; Vaults and notes

(defun ctxd--marked (file)
  "Return the nearest folder above FILE with one of `ctxd-markers' in it."
  (locate-dominating-file
   file (lambda (folder)
          (seq-some (lambda (marker) (file-exists-p (expand-file-name marker folder)))
                    ctxd-markers))))

(defun ctxd--vaults ()
  "Return the vaults of the daemon."
  (append (plist-get (ctxd-call 'vault.list) :vaults) nil))

(defun ctxd--vault (file)
  "Return the vault of the daemon that FILE lies in, with the path of FILE in it.
The value is a cons cell, or nil."
  (let ((file (file-truename file)) best)
    (dolist (vault (ctxd--vaults) best)
      (let ((folder (file-name-as-directory (file-truename (plist-get vault :path)))))
        (when (and (string-prefix-p folder file)
                   (or (not best) (> (length (plist-get vault :path))
                                     (length (plist-get (car best) :path)))))
          (setq best (cons vault (substring file (length folder)))))))))

(defun ctxd-vault-root (file)
  "Return the folder of the vault of FILE, or nil."
  (or (ctxd--marked file)
      (when-let ((found (and (executable-find ctxd-program)
                             (ignore-errors (ctxd--vault file)))))
        (file-name-as-directory (plist-get (car found) :path)))))

(defun ctxd-note ()
  "Return the note of the current buffer, or signal an error."
  (unless buffer-file-name
    (user-error "This buffer has no file, so it is no note"))
  (let ((found (or (ctxd--vault buffer-file-name)
                   (user-error "This file is in no vault of ctxd.  Try: ctxd import FOLDER"))))
    (ctxd-call 'notes.get (list :ref (cdr found) :vault (plist-get (car found) :vault)))))

(defun ctxd--file (record vaults)
  "Return the path of the file of RECORD, which lies in one of VAULTS, or nil."
  (let* ((name (plist-get record :vault))
         (vault (if name
                    (seq-find (lambda (v) (equal (plist-get v :vault) name)) vaults)
                  (and (= (length vaults) 1) (car vaults)))))
    (and vault (plist-get record :path)
         (expand-file-name (plist-get record :path) (plist-get vault :path)))))

(defun ctxd-project (folder)
  "Return the vault of FOLDER as a project, for `project-find-functions'."
  (when-let ((root (ctxd--marked folder)))
    (cons 'ctxd root)))

(cl-defmethod project-root ((project (head ctxd)))
  "Return the folder of PROJECT, which is a vault."
  (cdr project))

;;;; Completion

(defvar ctxd--rules
  '(("\\[\\[\\([^][|#^\n]*\\)" notes.complete ctxd--complete-notes)
    ("\\(?:^\\|[[:space:](]\\)@\\([^][:space:]@[]*\\)" entities.complete ctxd--complete-entities)
    ("\\(?:^\\|[[:space:](]\\)#\\([^][:space:]#[]+\\)" tags.list ctxd--complete-tags))
  "What is completed before point.
Each element is a regexp whose group is what a candidate replaces, the
method that completes, and a function from its result to candidates.")

(defun ctxd--candidate (label detail text)
  "Return a candidate shown as LABEL with DETAIL, which writes TEXT."
  (propertize label 'ctxd-detail detail 'ctxd-text text))

(defun ctxd--complete-notes (result)
  "Return the candidates of RESULT, of notes.complete."
  (cl-loop for note across (plist-get result :items)
           for text = (plist-get note :insert)
           when text
           collect (ctxd--candidate (plist-get note :title) (plist-get note :path) text)))

(defun ctxd--complete-entities (result)
  "Return the candidates of RESULT, of entities.complete."
  (cl-loop for entity across (plist-get result :items)
           for name = (plist-get entity :name)
           collect (ctxd--candidate name (plist-get entity :type)
                                    (or (plist-get entity :insert) name))))

(defun ctxd--complete-tags (result)
  "Return the candidates of RESULT, of tags.list."
  (cl-loop for tag across (plist-get result :tags)
           for name = (plist-get tag :name)
           collect (ctxd--candidate name (format "%d notes" (plist-get tag :count)) name)))

(defun ctxd--write (candidate link)
  "Write what CANDIDATE stands for in its place before point.
With LINK brackets are closed that are open."
  (let ((text (get-text-property 0 'ctxd-text candidate)))
    (unless (equal text (substring-no-properties candidate))
      (delete-char (- (length candidate)))
      (insert text))
    (when link
      (if (looking-at-p "]]") (forward-char 2) (insert "]]")))))

;;;###autoload
(defun ctxd-completion-at-point ()
  "Complete links, mentions and tags, for `completion-at-point-functions'."
  (when-let ((rule (seq-find (lambda (rule) (looking-back (car rule) (line-beginning-position)))
                             ctxd--rules)))
    (let* ((link (eq (nth 1 rule) 'notes.complete))
           (known (make-hash-table :test 'equal))
           (table
            (completion-table-dynamic
             (lambda (prefix)
               (let ((result (while-no-input
                               (ignore-error user-error
                                 (ctxd-call (nth 1 rule) (list :prefix prefix :limit ctxd-limit))))))
                 ;; t says that the person typed on.
                 (and (consp result)
                      (let ((candidates (funcall (nth 2 rule) result)))
                        (dolist (candidate candidates candidates)
                          (puthash (substring-no-properties candidate) candidate known)))))))))
      (list (match-beginning 1) (point)
            ;; The daemon has sorted them.
            (lambda (string predicate action)
              (if (eq action 'metadata)
                  '(metadata (category . ctxd) (display-sort-function . identity)
                             (cycle-sort-function . identity))
                (let ((completion-ignore-case t))
                  (complete-with-action action table string predicate))))
            :annotation-function
            (lambda (candidate)
              (when-let ((found (gethash (substring-no-properties candidate) known)))
                (concat "  " (get-text-property 0 'ctxd-detail found))))
            :exit-function
            (lambda (candidate status)
              (when-let ((found (and (eq status 'finished)
                                     (gethash (substring-no-properties candidate) known))))
                (ctxd--write found link)))
            :exclusive 'no))))

;;;; Modes and language servers

;; In text modes before Emacs 30, C-M-i completes words of a dictionary.
(defvar ctxd-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map [remap ispell-complete-word] #'completion-at-point)
    map)
  "Keys in notes.")

;;;###autoload
(define-minor-mode ctxd-mode
  "Complete links, mentions and tags of a vault in this buffer.
The vault is the project of the buffer."
  :lighter " ctxd"
  (if ctxd-mode
      (progn
        ;; Before that of Eglot, which takes only the last word of a title.
        (add-hook 'completion-at-point-functions #'ctxd-completion-at-point -10 t)
        (add-hook 'project-find-functions #'ctxd-project -10 t))
    (remove-hook 'completion-at-point-functions #'ctxd-completion-at-point t)
    (remove-hook 'project-find-functions #'ctxd-project t)))

(defun ctxd-turn-on ()
  "Turn `ctxd-mode' on in a file of a vault, and start the language server."
  (when (and buffer-file-name (ctxd-vault-root buffer-file-name))
    (ctxd-mode 1)
    (pcase ctxd-language-server
      ('eglot (when (require 'eglot nil t) (eglot-ensure)))
      ('lsp-mode (when (require 'lsp-mode nil t) (lsp-deferred))))))

(defun ctxd-server-command (&optional _interactive)
  "Return the command of the language server, as Eglot wants it."
  (append (list ctxd-program "lsp")
          (and ctxd-server-settings
               (list :initializationOptions (list :ctxd ctxd-server-settings)))))

(defun ctxd--register-eglot ()
  "Have Eglot use `ctxd lsp' for notes."
  (add-to-list 'eglot-server-programs (cons ctxd-modes #'ctxd-server-command)))

(defun ctxd--register-lsp-mode ()
  "Have lsp-mode use `ctxd lsp' for notes."
  (dolist (mode ctxd-modes)
    (add-to-list 'lsp-language-id-configuration (cons mode "markdown")))
  (lsp-register-client
   (make-lsp-client
    :new-connection (lsp-stdio-connection (lambda () (list ctxd-program "lsp")))
    :activation-fn (lambda (file mode) (and (memq mode ctxd-modes) (ctxd-vault-root file) t))
    :initialization-options (lambda () (and ctxd-server-settings (list :ctxd ctxd-server-settings)))
    :priority 1
    :server-id 'ctxd)))

;;;###autoload
(defun ctxd-setup ()
  "Use ctxd in the notes of vaults from now on.
Eglot and lsp-mode learn of its language server, and files of vaults get
`ctxd-mode'.  Other files stay as they are."
  (with-eval-after-load 'eglot (ctxd--register-eglot))
  (with-eval-after-load 'lsp-mode (ctxd--register-lsp-mode))
  (dolist (mode ctxd-modes)
    (add-hook (intern (format "%s-hook" mode)) #'ctxd-turn-on)))

;;;; Commands

(defun ctxd--region ()
  "Return the text of the active region, or nil."
  (and (use-region-p)
       (buffer-substring-no-properties (region-beginning) (region-end))))

(defun ctxd--list (hits nothing)
  "List HITS of a search to jump to, or say NOTHING."
  (if (seq-empty-p hits)
      (message "%s" nothing)
    (ctxd-call-then
     'vault.list nil
     (lambda (result)
       (let* ((vaults (append (plist-get result :vaults) nil))
              (items (delq nil (mapcar (lambda (hit) (ctxd--xref hit vaults)) hits))))
         (funcall xref-show-xrefs-function (lambda () items)
                  `((window . ,(selected-window)) (display-action) (auto-jump))))))))

(defun ctxd--xref (hit vaults)
  "Return HIT, a note of one of VAULTS, as a place to jump to, or nil."
  (when-let ((file (ctxd--file hit vaults))
             (snippet (replace-regexp-in-string "[[:space:]]+" " " (plist-get hit :snippet))))
    (xref-make (truncate-string-to-width snippet 160 nil nil "…")
               (xref-make-file-location file 1 0))))

(defun ctxd--show (name text mode)
  "Show TEXT in a buffer called NAME, in the major mode MODE."
  (with-current-buffer (get-buffer-create name)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert text)
      (goto-char (point-min)))
    (funcall mode)
    (view-mode 1)
    (setq-local word-wrap t)
    (display-buffer (current-buffer))
    (current-buffer)))

(defun ctxd--markdown ()
  "Use the major mode for Markdown where there is one, without its hooks."
  (delay-mode-hooks
    (if (fboundp 'markdown-mode) (markdown-mode) (text-mode))))

;;;###autoload
(defun ctxd-search (query)
  "Find notes by the words and the meaning of QUERY, and list them, best first.
Filters such as tag:work and after:7d narrow."
  (interactive (list (read-string "Search notes: " nil 'ctxd-search-history)))
  (ctxd-call-then 'notes.search (list :query query :limit ctxd-limit)
                  (lambda (result)
                    (ctxd--list (plist-get result :hits) (format "Nothing is about %s" query)))))

;;;###autoload
(defun ctxd-related ()
  "List the notes that are similar to this one, the nearest first."
  (interactive)
  (let ((note (ctxd-note)))
    (ctxd-call-then 'notes.similar (list :ref (plist-get note :id) :limit ctxd-limit)
                    (lambda (result)
                      (ctxd--list (plist-get result :hits)
                                  (format "No note is related to %s" (plist-get note :title)))))))

;;;###autoload
(defun ctxd-context (text &optional only-copy)
  "Show the prompt that a model gets for TEXT, and copy it.
The active region is added to TEXT.  Without both it is the prompt for
this note.  It contains nothing private.  With ONLY-COPY, the prefix
argument, it is not shown."
  (interactive (list (read-string "Prompt for (empty: this note): " nil 'ctxd-ask-history)
                     current-prefix-arg))
  (let* ((region (ctxd--region))
         (asked (string-join (delq nil (list (and (not (string-empty-p text)) text) region)) "\n\n"))
         (note (and (string-empty-p asked) (ctxd-note))))
    (ctxd-call-then
     'context.assemble
     (if note
         (list :text (plist-get note :title) :mentionedNoteIds (vector (plist-get note :id)))
       (list :text asked))
     (lambda (result)
       (let ((system (plist-get result :system)))
         (if (string-empty-p system)
             (message "The prompt is empty: nothing was mentioned, and nothing found")
           (kill-new system)
           (unless only-copy
             (ctxd--show "*ctxd prompt*" system #'ctxd--markdown))
           (message "Prompt of %d characters (%s), copied" (length system)
                    (mapconcat (lambda (section) (plist-get section :name))
                               (plist-get result :sections) ", "))))))))

(defun ctxd--run (args then)
  "Run the program with ARGS, and THEN with what it printed.
This returns at once.  What it says when it fails is shown."
  (let ((out (generate-new-buffer " *ctxd run*")))
    (make-process
     :name "ctxd run" :command (cons (ctxd--program) args) :buffer out :noquery t
     :connection-type 'pipe :coding 'utf-8-unix
     :sentinel
     (lambda (process _event)
       (unless (process-live-p process)
         (let ((text (with-current-buffer out (buffer-string)))
               (failed (/= (process-exit-status process) 0)))
           (kill-buffer out)
           (if failed
               (message "ctxd: %s" (string-remove-prefix "Error: " (string-trim text)))
             (funcall then text))))))))

;;;###autoload
(defun ctxd-graph (node &optional picture)
  "Draw what lies around NODE, a note or an entity.
Without a name it is this note.  With PICTURE, the prefix argument, a
drawing is opened in the browser."
  (interactive (list (read-string "Graph around (empty: this note): " nil 'ctxd-graph-history)
                     current-prefix-arg))
  (let ((node (if (string-empty-p node) (plist-get (ctxd-note) :id) node))
        (file (and picture (make-temp-file "ctxd-graph-" nil ".svg"))))
    (if picture
        (ctxd--run (list "inspect" "graph" node "--depth" "2" "--format" "svg" "-o" file "--force")
                   (lambda (_) (browse-url-of-file file)))
      (ctxd--run (list "inspect" "graph" node "--color" "never")
                 (lambda (text) (ctxd--show "*ctxd graph*" text #'text-mode))))))

(defvar-local ctxd--conversation nil "Id of the conversation that this buffer shows.")

(defvar-local ctxd--begins nil
  "Id of the answer that is being written into this buffer, and where it begins.")

(defvar-local ctxd--asking nil "Whether an answer is being written into this buffer.")

(defun ctxd--append (buffer text)
  "Write TEXT at the end of BUFFER; windows that show its end follow."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((inhibit-read-only t)
            (following (seq-filter (lambda (window) (= (window-point window) (point-max)))
                                   (get-buffer-window-list buffer nil t))))
        (save-excursion
          (goto-char (point-max))
          (insert text))
        (dolist (window following)
          (set-window-point window (point-max)))))))

(defun ctxd--told (delta)
  "Write the piece of an answer that is in DELTA."
  (let ((ours (assoc (plist-get delta :clientMessageId) ctxd--answers)))
    (when ours
      (setcar ours (plist-get delta :messageId))))
  (when-let ((buffer (cdr (assoc (plist-get delta :messageId) ctxd--answers))))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (setq ctxd--conversation (plist-get delta :conversationId))))
    (pcase (plist-get delta :type)
      ("text"
       (with-current-buffer buffer
         (unless (equal (car ctxd--begins) (plist-get delta :messageId))
           (setq ctxd--begins (cons (plist-get delta :messageId) (point-max)))))
       (ctxd--append buffer (plist-get delta :text)))
      ("replace"
       (with-current-buffer buffer
         (when (equal (car ctxd--begins) (plist-get delta :messageId))
           (let ((inhibit-read-only t))
             (delete-region (cdr ctxd--begins) (point-max)))))
       (ctxd--append buffer (or (plist-get delta :text) ""))))))

(defvar ctxd-answer-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'ctxd-stop)
    map)
  "Keys of a buffer with answers.")

(define-minor-mode ctxd-answer-mode
  "Stop an answer that is being written into this buffer.
\\{ctxd-answer-mode-map}"
  :lighter nil)

(defun ctxd--answer-buffer (new)
  "Return the buffer of answers, an empty one with NEW."
  (with-current-buffer (get-buffer-create "*ctxd answer*")
    (when ctxd--asking
      (user-error "An answer is being given; C-c C-c in its buffer stops it"))
    (when (or new (not ctxd--conversation))
      (let ((inhibit-read-only t)) (erase-buffer))
      (ctxd--markdown)
      (setq-local word-wrap t)
      (view-mode 1)
      (ctxd-answer-mode 1))
    (current-buffer)))

;;;###autoload
(defun ctxd-ask (question &optional new)
  "Ask a language model QUESTION; the answer is written as it comes.
The active region is quoted.  Further questions go on with the
conversation; with NEW, the prefix argument, another one begins.
The command `ctxd-stop' in the buffer of the answer stops it."
  (interactive (list (read-string "Ask: " nil 'ctxd-ask-history) current-prefix-arg))
  (let* ((region (ctxd--region))
         (text (concat question
                       (and region (concat "\n\n> " (string-replace "\n" "\n> " region)))))
         (buffer (ctxd--answer-buffer new))
         (conversation (buffer-local-value 'ctxd--conversation buffer))
         (id (format "emacs-%d-%s" (emacs-pid) (format-time-string "%s%N")))
         (ours (cons id buffer))
         (forget (lambda ()
                   (setq ctxd--answers (delq ours ctxd--answers))
                   (when (buffer-live-p buffer)
                     (with-current-buffer buffer (setq ctxd--asking nil))))))
    (display-buffer buffer)
    (ctxd--append buffer (format "%s# %s\n\n" (if conversation "\n\n" "") question))
    (push ours ctxd--answers)
    (with-current-buffer buffer (setq ctxd--asking t))
    (ctxd-call-then
     'chat.send
     (append (list :text text :clientMessageId id)
             (and conversation (list :conversationId conversation)))
     (lambda (result)
       (funcall forget)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (setq ctxd--conversation (plist-get result :conversationId))))
       (seq-doseq (warning (plist-get result :warnings))
         (message "ctxd: %s" (plist-get warning :message))))
     forget)))

(defun ctxd-stop ()
  "Stop the answer that is being given in this buffer."
  (interactive)
  (when ctxd--conversation
    (ctxd-call-then 'chat.cancel (list :conversationId ctxd--conversation) #'ignore)))

;;;###autoload
(defun ctxd-remember (statement)
  "Write STATEMENT down as a memory; interactively, the active region."
  (interactive (list (or (ctxd--region) (read-string "Remember: "))))
  (ctxd-call-then 'memory.add (list :statement (string-trim statement))
                  (lambda (result)
                    (let ((memory (plist-get result :memory)))
                      (message "Remembered as #%d, @%s" (plist-get memory :number)
                               (plist-get memory :handle))))))

(defvar ctxd-command-map
  (let ((map (make-sparse-keymap)))
    (define-key map "s" #'ctxd-search)
    (define-key map "r" #'ctxd-related)
    (define-key map "c" #'ctxd-context)
    (define-key map "g" #'ctxd-graph)
    (define-key map "a" #'ctxd-ask)
    (define-key map "m" #'ctxd-remember)
    map)
  "Keys of the commands, for a prefix of your choice.")

(provide 'ctxd)

;;; ctxd.el ends here
