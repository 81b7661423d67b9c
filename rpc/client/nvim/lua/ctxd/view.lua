-- The windows that :Ctxd opens, and what it says.
local M = {}

--- open shows lines in a window at the bottom and returns its buffer. A window of the same name is used
--- again. q closes it.
--- @param opts table filetype, focus
function M.open(name, lines, opts)
  opts = opts or {}
  local title = 'ctxd://' .. name
  local buf = vim.fn.bufnr('^' .. vim.fn.escape(title, '[]*?{}\\') .. '$')
  if buf < 0 then
    buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buf, title)
  end
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  M.set(buf, lines)
  vim.bo[buf].filetype = opts.filetype or 'ctxd'
  local before = vim.api.nvim_get_current_win()
  local win = vim.fn.bufwinid(buf)
  if win < 0 then
    vim.cmd(('botright %dsplit'):format(require('ctxd').config.height))
    win = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(win, buf)
    vim.wo[win].number = false
    vim.wo[win].relativenumber = false
    vim.wo[win].wrap = true
    vim.wo[win].linebreak = true
    vim.wo[win].winfixheight = true
  end
  vim.api.nvim_win_set_cursor(win, { 1, 0 })
  vim.api.nvim_set_current_win(opts.focus == false and before or win)
  vim.keymap.set('n', 'q', '<cmd>close<cr>', { buffer = buf, nowait = true, desc = 'Close this window' })
  return buf
end

--- set replaces the lines of a buffer that nobody edits.
function M.set(buf, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
end

--- cut keeps the first lines of a buffer, and an empty one.
function M.cut(buf, lines)
  if lines and vim.api.nvim_buf_is_valid(buf) then
    vim.bo[buf].modifiable = true
    vim.api.nvim_buf_set_lines(buf, lines, -1, false, { '' })
    vim.bo[buf].modifiable = false
  end
end

--- append adds text at the end of a buffer, and moves windows that show its end.
function M.append(buf, text)
  if not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  local last = vim.api.nvim_buf_line_count(buf)
  local line = vim.api.nvim_buf_get_lines(buf, last - 1, last, false)[1]
  local lines = vim.split(line .. text, '\n', { plain = true })
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, last - 1, last, false, lines)
  vim.bo[buf].modifiable = false
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.api.nvim_win_get_cursor(win)[1] >= last then
      vim.api.nvim_win_set_cursor(win, { last + #lines - 1, 0 })
    end
  end
end

--- say prints a line below the windows.
function M.say(text)
  vim.api.nvim_echo({ { 'ctxd: ' .. text } }, true, {})
end

--- fail says what went wrong and what to try.
function M.fail(err)
  local text = 'ctxd: ' .. (err.message or tostring(err))
  local hint = type(err.data) == 'table' and err.data.hint
  if hint and hint ~= vim.NIL then
    text = text .. '. Try: ' .. hint
  end
  vim.notify(text, vim.log.levels.ERROR)
end

--- list shows records in the quickfix list: those with a file can be jumped to.
--- @param records table each with title, snippet, file, lnum
function M.list(title, records)
  local items = {}
  for _, record in ipairs(records) do
    table.insert(items, {
      filename = record.file,
      lnum = record.lnum or (record.file and 1) or nil,
      text = record.title .. (record.snippet and record.snippet ~= '' and ': ' .. record.snippet:gsub('%s+', ' ') or ''),
    })
  end
  vim.fn.setqflist({}, ' ', { title = title, items = items })
  vim.cmd('botright copen')
end

return M
